#include "mpi/comm/session.hpp"

#include <atomic>
#include <unordered_map>
#include <utility>

#include "core/base/mutex.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

struct Known {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, SessionRef> sessions GUARDED_BY(mutex);
  std::unordered_map<std::uintptr_t, SessionRef> groups GUARDED_BY(mutex);
  std::atomic<bool> any{false};  // lets programs without sessions pass by
};

// Never destroyed: programs free groups in destructors of their own static objects.
Known& known() {
  static auto* const instance = new Known;
  return *instance;
}

}  // namespace

#ifdef ISTHMUS_HAS_Session_init
SessionRef grid_session(MPI_Session session) {
  Known& all = known();
  const core::Lock lock(all.mutex);
  SessionRef& found = all.sessions[key(session)];
  if (!found) {
    const Inside inside;
    auto made = std::make_shared<GridSession>();
    if (sessions_have_buffers() &&
        native.Group_from_session_pset(session, "mpi://WORLD", &made->native_world) !=
            MPI_SUCCESS) {
      all.sessions.erase(key(session));
      return nullptr;
    }
    found = std::move(made);
    all.any.store(true, std::memory_order_release);
  }
  return found;
}

SessionRef forget_session(MPI_Session session) {
  Known& all = known();
  if (!all.any.load(std::memory_order_acquire)) return nullptr;
  const core::Lock lock(all.mutex);
  const auto at = all.sessions.find(key(session));
  if (at == all.sessions.end()) return nullptr;
  SessionRef last = std::move(at->second);
  all.sessions.erase(at);
  const Inside inside;
  if (last->native_world != MPI_GROUP_NULL) native.Group_free(&last->native_world);
  return last;
}
#endif

MPI_Group native_world_of(const SessionRef& session) {
  const bool own = session && session->native_world != MPI_GROUP_NULL;
  return own ? session->native_world : grid()->native_world;
}

SessionRef session_of_group(MPI_Group group) {
  Known& all = known();
  if (!all.any.load(std::memory_order_acquire)) return nullptr;
  const core::Lock lock(all.mutex);
  const auto at = all.groups.find(key(group));
  return at == all.groups.end() ? nullptr : at->second;
}

void set_session_of_group(MPI_Group made, const SessionRef& session) {
  if (!session || made == MPI_GROUP_EMPTY) return;
  Known& all = known();
  const core::Lock lock(all.mutex);
  all.groups.insert_or_assign(key(made), session);
}

void forget_group(MPI_Group group) {
  Known& all = known();
  if (!all.any.load(std::memory_order_acquire)) return;
  const core::Lock lock(all.mutex);
  all.groups.erase(key(group));
}

}  // namespace isthmus::face
