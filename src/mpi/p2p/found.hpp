// Looking for messages on grid communicators, in both transports, without passing over a held
// receive that would take them.
#pragma once

#include <memory>
#include <optional>

#include "core/engine/engine.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/native/native.hpp"
#include "mpi/request/waits.hpp"

namespace isthmus::face {

enum class Take {
  No,   ///< MPI_Probe
  Yes,  ///< MPI_Mprobe
};

/// A message that was found.
struct Found {
  bool found = false;
  MPI_Status status{};                       ///< with the rank in the communicator
  std::shared_ptr<core::Extracted> distant;  ///< taken, from another cluster
  MPI_Message message = MPI_MESSAGE_NULL;    ///< taken, native
};

/// Copies the status of the message found into the program's, which may be ignored. MPI_ERROR stays
/// as it is: only functions that complete several requests set it.
inline void give_status(const Found& found, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  const int error = status->MPI_ERROR;
  *status = found.status;
  status->MPI_ERROR = error;
}

/// Describes a probe's wait; the arguments have been checked.
inline auto waiting_for_message(const GridComm& g, int source, int tag) {
  return [&g, source, tag](WaitingFor& wait) {
    wait.comm = g.native;
    wait.what = WaitingFor::What::Message;
    wait.peer = source == MPI_ANY_SOURCE ? -1 : g.group.node(source);
    wait.tag = tag == MPI_ANY_TAG ? -1 : tag;
  };
}

/// MPI_SUCCESS, or what the error handler left of a bad source or tag.
int check_probe(const GridComm& g, int source, int tag, const char* function);

/// How a probe ends that finds nothing: the communicator is revoked, or a sender has failed. Made
/// before looking. `waits`: it is MPI_Probe or MPI_Mprobe.
class ProbeLoss {
 public:
  ProbeLoss(const GridComm& g, int source, bool waits);
  /// Throws MpiError if there is such a loss and it has not found anything.
  void unless(bool found) const;

 private:
  std::optional<Loss> loss_;
};

/// Looks once. `source` may be MPI_ANY_SOURCE; it has been checked and is not MPI_PROC_NULL. A
/// native error (raised already) is in *code.
Found look(GridComm& g, int source, int tag, Take take, int* code);

}  // namespace isthmus::face
