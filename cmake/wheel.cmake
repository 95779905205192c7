# Builds for any Linux with glibc 2.28 (manylinux_2_28), with Zig's clang. Headers and static
# libraries come from the folder that tools/wheels/libraries makes. ISTHMUS_WHEEL_ARCH is x86_64 or
# aarch64.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ISTHMUS_WHEEL_ARCH)
set(tools "${CMAKE_CURRENT_LIST_DIR}/../tools/wheels")
cmake_host_system_information(RESULT host QUERY OS_PLATFORM)
if(NOT host STREQUAL ISTHMUS_WHEEL_ARCH)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR "${ISTHMUS_WHEEL_ARCH}")
endif()
set(CMAKE_LIBRARY_ARCHITECTURE "${ISTHMUS_WHEEL_ARCH}-linux-gnu")
set(CMAKE_C_COMPILER "${tools}/bin/${ISTHMUS_WHEEL_ARCH}-cc")
set(CMAKE_CXX_COMPILER "${tools}/bin/${ISTHMUS_WHEEL_ARCH}-c++")
set(CMAKE_ASM_COMPILER "${CMAKE_C_COMPILER}")
set(CMAKE_AR "${tools}/bin/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${tools}/bin/ranlib" CACHE FILEPATH "")

cmake_path(SET libraries NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/wheel-${ISTHMUS_WHEEL_ARCH}/libraries")
set(CMAKE_FIND_ROOT_PATH "${libraries}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(fmt_DIR "${tools}/cmake" CACHE PATH "")
set(ISTHMUS_MPI_OMPI_INCLUDE "${libraries}/openmpi" CACHE PATH "")
set(ISTHMUS_MPI_MPICH_INCLUDE "${libraries}/mpich" CACHE PATH "")
set(ISTHMUS_MPI_ABI_INCLUDE "${libraries}/mpich" CACHE PATH "")

set(ISTHMUS_NOTICES "${libraries}/notices" CACHE PATH "")
set(ISTHMUS_OPENSSL_BESIDE ON CACHE BOOL "")
# Libraries are found from where programs and faces are, wherever that is.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib/isthmus")

# Debian 12's asio knows no coroutines of clang's C++20. Code that nothing reaches is left out.
set(CMAKE_CXX_FLAGS_INIT "-DASIO_HAS_CO_AWAIT=1 -DASIO_HAS_STD_COROUTINE=1 -ffunction-sections -fdata-sections")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-pie -s -Wl,--gc-sections")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-s -Wl,--gc-sections")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s -Wl,--gc-sections")
