#include "mpi/making/from_group.hpp"

#include "mpi/native/entry.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {

int native_from_group([[maybe_unused]] MPI_Group group, [[maybe_unused]] const std::string& tag,
                      [[maybe_unused]] MPI_Comm* result) {
#ifdef ISTHMUS_HAS_Comm_create_from_group
  const Inside inside;
  return parked(native.Comm_create_from_group, group, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN,
                result);
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

}  // namespace isthmus::face
