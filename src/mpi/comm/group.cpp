#include "mpi/comm/group.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

struct Groups {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, core::Group> groups GUARDED_BY(mutex);
  std::atomic<std::size_t> size{0};  // lets programs without grid groups pass by
};

// Never destroyed: programs free groups in destructors of their own static objects.
Groups& all_groups() {
  static auto* const instance = new Groups;
  return *instance;
}

core::Group group_of_native(MPI_Group handle) {
  Inside inside;
  int size = 0;
  if (native.Group_size(handle, &size) != MPI_SUCCESS) {
    throw MpiError(MPI_ERR_GROUP, "the group is not valid");
  }
  if (size == 0) return {};  // MPICH 3.4 takes no null pointers for no ranks (2026-11)
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> worlds(ranks.size());
  const Grid& here = *grid();
  if (native.Group_translate_ranks(handle, size, ranks.data(), here.native_world, worlds.data()) !=
      MPI_SUCCESS) {
    throw MpiError(MPI_ERR_GROUP, "the group is not valid");
  }
  for (int& rank : worlds) {
    if (rank == MPI_UNDEFINED) {
      throw MpiError(MPI_ERR_GROUP,
                     "the group holds a process that is not of the grid's MPI_COMM_WORLD; "
                     "spawned processes cannot be combined with those of other clusters");
    }
    rank += here.first;
  }
  return core::Group::of(worlds);
}

}  // namespace

bool is_grid_group(MPI_Group handle) {
  Groups& all = all_groups();
  if (all.size.load(std::memory_order_acquire) == 0) return false;
  core::Lock lock(all.mutex);
  return all.groups.contains(key(handle));
}

core::Group group_of(MPI_Group handle) {
  Groups& all = all_groups();
  if (all.size.load(std::memory_order_acquire) != 0) {
    core::Lock lock(all.mutex);
    if (const auto found = all.groups.find(key(handle)); found != all.groups.end()) {
      return found->second;
    }
  }
  return group_of_native(handle);
}

int make_group(const core::Group& group, const SessionRef& session, MPI_Group* handle) {
  const Grid& here = *grid();
  std::vector<int> ranks = group.nodes();
  for (int& rank : ranks) rank = here.native_of(rank);
  Inside inside;
  // The empty group must come from the library, too: Open MPI counts its references.
  if (std::find(ranks.begin(), ranks.end(), -1) == ranks.end()) {
    const int code =
        native.Group_incl(native_world_of(session), group.size(), ranks.data(), handle);
    if (code == MPI_SUCCESS) set_session_of_group(*handle, session);
    return code;
  }
  const int first = 0;
  MPI_Group made = MPI_GROUP_NULL;
  if (const int code = native.Group_incl(here.native_world, 1, &first, &made);
      code != MPI_SUCCESS) {
    return code;
  }
  Groups& all = all_groups();
  core::Lock lock(all.mutex);
  all.groups.insert_or_assign(key(made), group);
  all.size.store(all.groups.size(), std::memory_order_release);
  set_session_of_group(made, session);
  *handle = made;
  return MPI_SUCCESS;
}

bool native_pair(MPI_Group first, MPI_Group second) {
  if (inner_call() || first == MPI_GROUP_NULL || second == MPI_GROUP_NULL) return true;
  return !is_grid_group(first) && !is_grid_group(second);
}

void unregister_group(MPI_Group handle) {
  Groups& all = all_groups();
  core::Lock lock(all.mutex);
  all.groups.erase(key(handle));
  all.size.store(all.groups.size(), std::memory_order_release);
}

}  // namespace isthmus::face
