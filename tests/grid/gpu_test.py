"""Memory of a GPU, as a driver made for the test reports it. The test needs no GPU."""

from __future__ import annotations

import subprocess

import mpis
import pytest

# A driver for which one buffer is the memory of a device.
DRIVER = """\
char device[4096];
int cuPointerGetAttribute(void* value, int attribute, unsigned long long address) {
  const char* at = (const char*)address;
  if (at < device || at >= device + sizeof device) return 1;
  *(unsigned*)value = attribute == 2 ? 2 : 0;
  return attribute == 2 || attribute == 8 ? 0 : 1;
}
"""
DEVICE = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
extern char device[4096];
static const char* const questions[] = {"MPIX_Query_cuda_support", "MPIX_Query_hip_support"};
static int refused(int code, const char* function) {
  int class = MPI_SUCCESS, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  return class == MPI_ERR_BUFFER && strstr(text, function) && strstr(text, "GPU");
}
int main(int argc, char** argv) {
  int rank, wrong = 0, got = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; ++i) {
    int (*ask)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, questions[i]);
    if (ask && ask() != 0) wrong |= 1;
  }
  if (!refused(MPI_Send(device, 8, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD), "MPI_Send")) wrong |= 2;
  if (!refused(MPI_Recv(device + 8, 8, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
               "MPI_Recv")) wrong |= 4;
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, &got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (got != 1 - rank) wrong |= 8;
  if (wrong) printf("rank %d: %d\\n", rank, wrong);
  MPI_Finalize();
  return wrong;
}
"""


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_memory_of_a_gpu_does_not_cross(isthmus, tmp_path, name):
    driver, source, program = tmp_path / "driver.c", tmp_path / "device.c", tmp_path / "device"
    driver.write_text(DRIVER)
    source.write_text(DEVICE)
    library = tmp_path / "libcuda.so.1"
    shared = ["-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
    subprocess.run(["cc", *shared, driver, "-o", library], check=True)
    # As a library has its buffers: not copied into the program.
    compile_ = [mpis.ALL[name].cc, "-fPIC", "-pie", source, library]
    subprocess.run([*compile_, f"-Wl,-rpath,{tmp_path}", "-o", program], check=True)
    done = isthmus("run", "-n", 2, program)
    assert done.returncode == 0, done.stdout + done.stderr


# The driver comes with a library that the program opens between its messages.
LATER = """\
#include <dlfcn.h>
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, class = MPI_SUCCESS, got;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 2, &got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  void* const driver = dlopen(DRIVER_PATH, RTLD_NOW | RTLD_LOCAL);
  void* const device = driver ? dlsym(driver, "device") : NULL;
  if (!device) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Error_class(MPI_Send(device, 8, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD), &class);
  MPI_Finalize();
  return class == MPI_ERR_BUFFER ? 0 : 1;
}
"""


def test_a_driver_that_comes_after_messages_is_found(isthmus, tmp_path):
    driver, source, program = tmp_path / "driver.c", tmp_path / "later.c", tmp_path / "later"
    driver.write_text(DRIVER)
    source.write_text(LATER)
    library = tmp_path / "libcuda.so.1"
    shared = ["-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
    subprocess.run(["cc", *shared, driver, "-o", library], check=True)
    compile_ = [mpis.ALL["openmpi4"].cc, f'-DDRIVER_PATH="{library}"', source, "-ldl"]
    subprocess.run([*compile_, "-o", program], check=True)
    done = isthmus("run", "-n", 2, program)
    assert done.returncode == 0, done.stdout + done.stderr
