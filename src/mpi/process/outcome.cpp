#include "mpi/process/outcome.hpp"

#include <exception>

#include "coll/engine/party.hpp"
#include "mpi/native/entry.hpp"

namespace isthmus::face {

int make_together(const MakePart& make, const std::function<bool(bool)>& agree, MPI_Comm* result) {
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  std::exception_ptr thrown;
  try {
    code = make(&made);
  } catch (...) {
    thrown = std::current_exception();
  }
  const bool succeeded = code == MPI_SUCCESS && !thrown;
  *result = MPI_COMM_NULL;
  try {
    if (agree(succeeded)) {
      *result = made;
      return MPI_SUCCESS;
    }
  } catch (...) {  // members may have failed
    if (succeeded && made != MPI_COMM_NULL) isthmus_Comm_free(&made);
    throw;
  }
  if (thrown) std::rethrow_exception(thrown);
  if (code != MPI_SUCCESS) return code;
  if (made != MPI_COMM_NULL) isthmus_Comm_free(&made);
  throw MpiError(MPI_ERR_OTHER,
                 "the native MPI library of another member could not make its part of the "
                 "communicator (it may have too many)");
}

}  // namespace isthmus::face
