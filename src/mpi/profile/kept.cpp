#include "mpi/profile/kept.hpp"

#include <unordered_map>
#include <utility>

#include "core/base/mutex.hpp"

namespace isthmus::face::profile {
namespace {

struct KeptRequests {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, Kept> of GUARDED_BY(mutex);
};
KeptRequests& kept_requests() {
  static KeptRequests& one = *new KeptRequests;  // outlives static objects that call MPI
  return one;
}

}  // namespace

void keep(MPI_Request request, Kept kept) {
  const core::Lock lock(kept_requests().mutex);
  kept_requests().of[key(request)] = std::move(kept);
}

void let_go(MPI_Request request) {
  const core::Lock lock(kept_requests().mutex);
  kept_requests().of.erase(key(request));
}

void start_kept(Thread& thread, MPI_Request request) {
  const core::Lock lock(kept_requests().mutex);
  const auto found = kept_requests().of.find(key(request));
  if (found == kept_requests().of.end()) return;
  const Kept& kept = found->second;
  for (const auto& [world_rank, bytes] : kept.messages) thread.to_world(world_rank).count(bytes);
  if (kept.collective != 0) thread.calls(kept.collective, kept.members).given.count(kept.given);
}

}  // namespace isthmus::face::profile
