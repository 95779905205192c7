#include "mpi/comm/own_comm.hpp"

#include <unordered_map>

#include "core/base/mutex.hpp"

namespace isthmus::face {
namespace {

// Never destroyed: programs free communicators in destructors of their own static objects.
struct OwnComms {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, GridCommRef> all GUARDED_BY(mutex);
};
OwnComms& owns() {
  static auto* const one = new OwnComms;
  return *one;
}

bool is_own(MPI_Comm comm) {
  const Inside inside;
  int size = 0, between = 0;
  if (comm == MPI_COMM_NULL || native.Comm_size(comm, &size) != MPI_SUCCESS || size != 1) {
    return false;
  }
  return native.Comm_test_inter(comm, &between) == MPI_SUCCESS && between == 0;
}

}  // namespace

GridComm* own_comm(MPI_Comm comm) noexcept {
  if (!may_lose() || !is_own(comm)) return nullptr;
  try {
    const core::Lock lock(owns().mutex);
    GridCommRef& own = owns().all[key(comm)];
    if (!own) own = make_comm(core::Group::range(grid()->node, 1), fresh_context(), comm, {});
    return own.get();
  } catch (...) {  // the call goes on natively
    return nullptr;
  }
}

GridCommRef enter_own(MPI_Comm comm) {
  if (own_comm(comm) == nullptr) return nullptr;
  // Several threads may come here at once.
  const core::Lock lock(owns().mutex);
  GridCommRef own = owns().all[key(comm)];
  if (own && share_comm(comm) == nullptr) enter_comm(own);
  return own;
}

GridCommRef share_with_own(MPI_Comm handle) {
  if (GridCommRef found = share_comm(handle); found || !may_lose()) return found;
  const core::Lock lock(owns().mutex);
  const auto at = owns().all.find(key(handle));
  return at == owns().all.end() ? nullptr : at->second;
}

void forget_own(MPI_Comm handle) {
  if (!may_lose()) return;
  GridCommRef last;  // destroyed after the lock is gone
  const core::Lock lock(owns().mutex);
  const auto at = owns().all.find(key(handle));
  if (at == owns().all.end()) return;
  last = std::move(at->second);
  owns().all.erase(at);
}

}  // namespace isthmus::face
