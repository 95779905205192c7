// MPI-4.1 sections 11.2 and 11.6: the beginning and the end.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "mpi/making/join.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/native/thread_level.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// Initializes the native library by `as_asked`, or at the thread level that Isthmus needs; then
/// joins the grid.
template <class AsAsked>
int initialize(int* argc, char*** argv, int required, int* provided, AsAsked&& as_asked) {
  if (!in_grid()) return as_asked();
  ProgressBy by = ProgressBy::None;
  std::string wrong;
  try {
    by = choose_progress(required == MPI_THREAD_MULTIPLE);
  } catch (const std::invalid_argument& setting) {
    wrong = setting.what();
  }
  int code = MPI_SUCCESS;
  if (by == ProgressBy::Thread) {
    int given = MPI_THREAD_SINGLE;
    code = native.Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &given);
    if (given != MPI_THREAD_MULTIPLE) by = ProgressBy::None;
    *provided = std::min(required, given);
    set_thread_level(*provided);
  } else {
    code = as_asked();
  }
  if (code != MPI_SUCCESS) return code;
  if (!wrong.empty()) abort_grid(1, "cannot join the grid: " + wrong);
  join_grid(by);
  return code;
}

}  // namespace

// coverage: joins the grid
ISTHMUS_MPI(Init)(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return initialize(argc, argv, MPI_THREAD_SINGLE, &provided,
                    [&] { return native.Init(argc, argv); });
}

// coverage: joins the grid; the thread level is the native library's
ISTHMUS_MPI(Init_thread)(int* argc, char*** argv, int required, int* provided) {
  return initialize(argc, argv, required, provided,
                    [&] { return native.Init_thread(argc, argv, required, provided); });
}

// coverage: waits for every rank of the grid, then leaves it
ISTHMUS_MPI(Finalize)() {
  return native.Finalize();  // calls leave_grid: join.cpp says when
}

}  // namespace isthmus::face
