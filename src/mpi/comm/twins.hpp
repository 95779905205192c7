// Reductions of a communicator inside one cluster are native, in the order of the native library.
// If they must be reproducible, the communicator has a twin: a grid communicator of the same ranks
// that is in no table. Its collectives are messages on the shadow, since the program makes
// collectives of its own on the handle.
#pragma once

#include <cstdint>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// The twin of a native communicator; null if its reductions are native. That also holds for
/// intercommunicators. The first call for a handle is made by all members, in the order of their
/// collectives. It does not wait.
GridCommRef twin_of(MPI_Comm comm);
/// Whether reductions of a native communicator are reproducible, whatever the run asks for. All
/// members call it.
void choose_reproducible(MPI_Comm comm, bool reproducible);
/// The choice for `from` also counts for its duplicate.
void copy_reproducible(MPI_Comm from, MPI_Comm to);
/// A native communicator is about to be freed.
void end_twin(MPI_Comm comm);

/// The tags of a twin come from its rank 0, by a broadcast on the handle.
struct TwinTags {
  TwinTags(MPI_Comm comm, bool first);
  ~TwinTags();
  TwinTags(const TwinTags&) = delete;
  TwinTags& operator=(const TwinTags&) = delete;
  bool known();

  std::unique_ptr<std::int32_t> number;
  MPI_Request request = MPI_REQUEST_NULL;
};

/// Whether messages may have begun: a twin has its tags. Under the progress lock.
bool has_tags(GridComm& comm);

}  // namespace isthmus::face
