// The predefined attributes whose values the grid changes. All others hang on the native handle.
#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/limits.hpp"

extern "C" int isthmus_fortran_comm_attribute(int comm, int keyval, MPI_Aint* value);

namespace isthmus::face {
namespace {

/// The grid's value of a predefined attribute, or null if the native one holds.
const int* grid_value(int keyval) {
  static const int is_global = 0;  // clusters' clocks are unrelated
  if (keyval == MPI_TAG_UB) return &limits().tag_upper_bound;
  if (keyval == MPI_WTIME_IS_GLOBAL) return &is_global;
  if (keyval == MPI_APPNUM) return &appnum();
  return nullptr;
}

/// Replaces the native library's answer. Not every native launcher sets MPI_APPNUM; the grid's
/// always does. MPI_UNIVERSE_SIZE counts even if MPI_COMM_WORLD is within one cluster.
void adjust(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  if (native_call()) return;
  const bool world = comm == MPI_COMM_WORLD;
  if (keyval == MPI_UNIVERSE_SIZE && (world || *flag != 0)) {
    const int& size = limits().universe_size;
    *flag = size > 0 ? 1 : 0;
    if (size > 0) *static_cast<const int**>(attribute_val) = &size;
    return;
  }
#if defined(OPEN_MPI) && defined(MPI_ERR_PROC_FAILED)
  if (keyval == MPI_FT && *flag != 0 && FailedClusters::possible()) {
    static const int survives = 1;
    *static_cast<const int**>(attribute_val) = &survives;
    return;
  }
#endif
  const bool number_of_world = world && keyval == MPI_APPNUM;
  if (grid_comm(comm) == nullptr && !number_of_world) return;
  if (*flag == 0 && !number_of_world) return;
  *flag = 1;
  if (const int* const value = grid_value(keyval)) {
    *static_cast<const int**>(attribute_val) = value;
  }
}

}  // namespace

// coverage: MPI_TAG_UB, MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_WTIME_IS_GLOBAL and MPIX_FT are the
// grid's
ISTHMUS_MPI(Comm_get_attr)(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  const int code = native.Comm_get_attr(comm, comm_keyval, attribute_val, flag);
  if (code == MPI_SUCCESS) adjust(comm, comm_keyval, attribute_val, flag);
  return code;
}

// coverage: as MPI_Comm_get_attr
ISTHMUS_MPI(Attr_get)(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  const int code = native.Attr_get(comm, keyval, attribute_val, flag);
  if (code == MPI_SUCCESS) adjust(comm, keyval, attribute_val, flag);
  return code;
}

}  // namespace isthmus::face

using namespace isthmus::face;

// Fortran is given the number itself. Returns 1: it is set; 2: it is not; 0: the native library
// knows. Fortran's attribute functions do not reach those of C (src/preload/fortran_attributes.c).
int isthmus_fortran_comm_attribute(int comm, int keyval, MPI_Aint* value) {
#if defined(OPEN_MPI)
  const MPI_Comm handle = native.Comm_f2c(comm);
#elif defined(MPICH)
  const MPI_Comm handle = comm;  // used if MPI_Comm_f2c is a macro
#else
  const MPI_Comm handle = native.Comm_fromint(comm);
#endif
  const bool ours = keyval == MPI_UNIVERSE_SIZE || grid_value(keyval) != nullptr;
  if (!ours || native_call() || handle == MPI_COMM_NULL) return 0;
  int* found = nullptr;
  int flag = 0;
  if (isthmus_Comm_get_attr(handle, keyval, &found, &flag) != MPI_SUCCESS) return 0;
  if (flag == 0) return 2;
  *value = *found;
  return 1;
}
