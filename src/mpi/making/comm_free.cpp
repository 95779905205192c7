// MPI-4.1 section 7.4.3: the end of communicators. Attribute delete functions run in the native
// call and still see the grid communicator behind the handle.
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "mpi/comm/inter.hpp"
#include "mpi/comm/own_comm.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/comm/twins.hpp"
#include "mpi/making/farewell.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/parting.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/p2p/bsend.hpp"
#include "mpi/p2p/drain.hpp"
#include "mpi/p2p/held.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {
namespace {

template <class NativeFree>
int unmake(MPI_Comm* comm, NativeFree&& native_free) {
  const MPI_Comm handle = *comm;
  const GridCommRef freed = share_with_own(handle);
  if (freed && may_lose()) end_drain(freed);
  std::lock_guard unmaking(unmaking_mutex());
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  native.Comm_get_errhandler(handle, &handler);
  const int code = native_free(comm);
  if (code != MPI_SUCCESS || !freed) {
    native.Errhandler_free(&handler);
    if (freed) resume_drain(*freed);
  } else {
    freed->last_handler = handler;
    freed->freed.store(true, std::memory_order_release);
  }
  if (code == MPI_SUCCESS) {
    unregister_comm(handle);
    forget_own(handle);
    end_twin(handle);  // the choice for one of this process alone, which has no twin
    buffer_of_freed(handle);
  }
  return code;
}

/// The communicator of a call, if Isthmus may still need its handle.
GridCommRef known(const MPI_Comm* comm) {
  return comm == nullptr || native_call() ? nullptr : share_with_own(*comm);
}

/// Whether something still goes by the handle: collectives and duplications under way, persistent
/// requests, messages that the program holds, receives that look for theirs there.
bool in_use(const GridComm& comm) {
  const core::Lock lock(progress_mutex);
  if (comm.inter && comm.inter->whole->uses.load(std::memory_order_acquire) > 0) return true;
  return comm.uses.load(std::memory_order_acquire) > 0 || (comm.held && !comm.held->empty());
}

/// Frees the handle when it is not in use any more, by other members neither.
class LateFree final : public Operation {
 public:
  explicit LateFree(GridCommRef freed) : freed_(std::move(freed)) {}
  bool advance() override {
    if (grid() == nullptr) return true;
    if (in_use(*freed_)) return false;
    if (!parting_ && needs_parting(*freed_)) parting_.emplace(freed_);
    if (parting_ && !parting_->over()) return false;
    // Not waited for: a thread that holds it may be waiting for the progress lock.
    const std::unique_lock unmaking(unmaking_mutex(), std::try_to_lock);
    if (!unmaking) return false;
    MPI_Comm handle = freed_->native;
    unmake(&handle, native.Comm_free);
    return true;
  }

 private:
  GridCommRef freed_;
  std::optional<Parting> parting_;
};

int free_in_time(MPI_Comm* comm, const GridCommRef& found) {
  if (!in_use(*found) && !needs_parting(*found)) return unmake(comm, native.Comm_free);
  abandon(std::make_unique<LateFree>(found));
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

// coverage: delete functions run later where something still needs the communicator
ISTHMUS_MPI(Comm_free)(MPI_Comm* comm) {
  const GridCommRef found = known(comm);
  if (!found) {
    if (comm != nullptr) end_twin(*comm);
    return native.Comm_free(comm);
  }
  return shielded(*comm, "MPI_Comm_free", [&] {
    const bool permanent = *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF;
    return permanent ? unmake(comm, native.Comm_free) : free_in_time(comm, found);
  });
}

// coverage: waits until every rank of the communicator has called it
ISTHMUS_MPI(Comm_disconnect)(MPI_Comm* comm) {
  const GridCommRef found = known(comm);
  if (!found) {
    if (comm != nullptr) end_twin(*comm);
    return parked(native.Comm_disconnect, comm);
  }
  return shielded(*comm, "MPI_Comm_disconnect", [&] {
    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) {
      throw MpiError(MPI_ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be disconnected");
    }
    meet_living(found);
    if (may_lose()) return free_in_time(comm, found);
    if (!found->runs.empty()) bid_farewell(found);
    return unmake(comm, native.Comm_disconnect);
  });
}

}  // namespace isthmus::face
