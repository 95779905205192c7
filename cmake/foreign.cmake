# Builds for the processor `arch` with Debian's cross compiler, against the folder that
# tools/setup/sysroot makes; the programs run here through qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${arch})
set(CMAKE_LIBRARY_ARCHITECTURE ${arch}-linux-gnu)
set(CMAKE_C_COMPILER ${arch}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${arch}-linux-gnu-g++)
set(CMAKE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/${arch}-sysroot")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-${arch}-static;-L;${CMAKE_SYSROOT}")

# The headers of that processor; the standard ABI's are the same on all.
set(there "${CMAKE_SYSROOT}/usr")
set(ISTHMUS_MPI_OMPI_INCLUDE "${there}/lib/${arch}-linux-gnu/openmpi/include" CACHE PATH "")
set(ISTHMUS_MPI_MPICH_INCLUDE "${there}/include/${arch}-linux-gnu/mpich" CACHE PATH "")
