# Builds for aarch64 with Debian's cross compiler, against the folder that
# tools/setup/aarch64_sysroot makes; the programs run here through qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${CMAKE_SYSROOT}")

# The headers of that architecture; the standard ABI's are the same on all.
set(arm "${CMAKE_SYSROOT}/usr")
set(ISTHMUS_MPI_OMPI_INCLUDE "${arm}/lib/aarch64-linux-gnu/openmpi/include" CACHE PATH "")
set(ISTHMUS_MPI_MPICH_INCLUDE "${arm}/include/aarch64-linux-gnu/mpich" CACHE PATH "")
