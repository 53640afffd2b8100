# SPDX-License-Identifier: BSD-3-Clause
# cmake --toolchain tools/aarch64-linux-gnu.cmake: Debian's cross compiler (gcc-aarch64-linux-gnu). ctest runs the unit
# programs by QEMU's user mode (qemu-user-static). HEADWAY_SYSROOT is where Debian's arm64 packages were unpacked:
# libcmocka-dev, libcmocka0, and the MPI whose mpi.h HEADWAY_MPICH_HEADERS or HEADWAY_OMPI_HEADERS names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(HEADWAY_SYSROOT "" CACHE PATH "folder with Debian's arm64 packages")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEADWAY_SYSROOT)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "${HEADWAY_SYSROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu
    -E LD_LIBRARY_PATH=${HEADWAY_SYSROOT}/usr/lib/aarch64-linux-gnu)
