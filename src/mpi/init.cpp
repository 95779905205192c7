#include "mpi/entry.hpp"
#include "mpi/grid.hpp"

using namespace isthmus::face;

// coverage: joins the grid
ISTHMUS_MPI(Init)(int* argc, char*** argv) {
  const int code = native.Init(argc, argv);
  if (code == MPI_SUCCESS) join_grid();
  return code;
}

// coverage: joins the grid; the thread level is the native library's
ISTHMUS_MPI(Init_thread)(int* argc, char*** argv, int required, int* provided) {
  const int code = native.Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) join_grid();
  return code;
}

// coverage: waits for every rank of the grid, then leaves it
ISTHMUS_MPI(Finalize)() {
  return native.Finalize();  // calls leave_grid: grid.cpp says when
}
