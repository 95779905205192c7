#include "mpi/profile/members.hpp"

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "core/base/mutex.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face::profile {

std::atomic<std::uint32_t> generation{1};

namespace {

// The number of handles known at a time; then all are looked up again.
constexpr std::size_t kMostHandles = 1024;

struct KnownMembers {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, MembersRef> known GUARDED_BY(mutex);
};
// Never destroyed: programs free handles in destructors of their own static objects.
KnownMembers& comms() {
  static KnownMembers& one = *new KnownMembers;
  return one;
}
KnownMembers& windows() {
  static KnownMembers& one = *new KnownMembers;
  return one;
}

/// Frees the group.
std::vector<int> world_ranks(MPI_Group group) {
  std::vector<int> ranks;
  try {
    const core::World& world = grid()->world();
    for (const int node : group_of(group).nodes()) {
      ranks.push_back(world.rank_of(static_cast<core::NodeId>(node)));
    }
  } catch (const std::exception&) {  // processes that are not of the grid
    int size = 0;
    isthmus_Group_size(group, &size);
    ranks.assign(static_cast<std::size_t>(std::max(size, 0)), -1);
  }
  isthmus_Group_free(&group);
  return ranks;
}

std::vector<int> group_of_comm(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  if (isthmus_Comm_group(comm, &group) != MPI_SUCCESS) return {};
  return world_ranks(group);
}

std::vector<int> remote_group_of_comm(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  if (isthmus_Comm_remote_group(comm, &group) != MPI_SUCCESS) return {};
  return world_ranks(group);
}

std::vector<int> cartesian_destinations(MPI_Comm comm) {
  std::vector<int> ranks;
  int dimensions = 0;
  isthmus_Cartdim_get(comm, &dimensions);
  for (int i = 0; i < dimensions; ++i) {
    int before = MPI_PROC_NULL;
    int behind = MPI_PROC_NULL;
    isthmus_Cart_shift(comm, i, 1, &before, &behind);
    ranks.push_back(before);
    ranks.push_back(behind);
  }
  return ranks;
}

std::vector<int> graph_destinations(MPI_Comm comm, int rank) {
  int count = 0;
  isthmus_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> ranks(static_cast<std::size_t>(count));
  isthmus_Graph_neighbors(comm, rank, count, ranks.data());
  return ranks;
}

std::vector<int> dist_graph_destinations(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  isthmus_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  // One element more each: a library may want an address even for empty lists.
  std::vector<int> sources(static_cast<std::size_t>(in) + 1);
  std::vector<int> ranks(static_cast<std::size_t>(out) + 1);
  std::vector<int> weights(std::max(sources.size(), ranks.size()));
  std::vector<int> more_weights(weights.size());
  isthmus_Dist_graph_neighbors(comm, in, sources.data(), weights.data(), out, ranks.data(),
                               more_weights.data());
  ranks.pop_back();
  return ranks;
}

std::vector<int> destinations_of(MPI_Comm comm, const Members& members) {
  int kind = MPI_UNDEFINED;
  isthmus_Topo_test(comm, &kind);
  std::vector<int> ranks;
  if (kind == MPI_CART) ranks = cartesian_destinations(comm);
  if (kind == MPI_GRAPH) ranks = graph_destinations(comm, members.rank);
  if (kind == MPI_DIST_GRAPH) ranks = dist_graph_destinations(comm);
  for (int& rank : ranks) {
    const auto at = static_cast<std::size_t>(rank);
    rank = rank >= 0 && at < members.world.size() ? members.world[at] : MPI_PROC_NULL;
  }
  return ranks;
}

Members found_members(MPI_Comm comm) {
  Members found;
  int inter = 0;
  isthmus_Comm_test_inter(comm, &inter);
  isthmus_Comm_rank(comm, &found.rank);
  found.inter = inter != 0;
  found.all = group_of_comm(comm);
  if (found.inter) {
    found.world = remote_group_of_comm(comm);
    found.all.insert(found.all.end(), found.world.begin(), found.world.end());
  } else {
    found.world = found.all;
    found.destinations = destinations_of(comm, found);
  }
  std::sort(found.all.begin(), found.all.end());
  return found;
}

Members found_members_of_window(MPI_Win window) {
  Members found;
  MPI_Group group = MPI_GROUP_NULL;
  if (isthmus_Win_get_group(window, &group) == MPI_SUCCESS) found.world = world_ranks(group);
  found.all = found.world;
  std::sort(found.all.begin(), found.all.end());
  return found;
}

/// Finds the members outside of the lock: MPI may call the program.
template <class Find>
MembersRef known_or(KnownMembers& table, std::uintptr_t handle, Find&& find) {
  {
    const core::Lock lock(table.mutex);
    if (const auto at = table.known.find(handle); at != table.known.end()) return at->second;
  }
  auto members = std::make_shared<const Members>(find());
  const core::Lock lock(table.mutex);
  if (table.known.size() >= kMostHandles) table.known.clear();
  table.known[handle] = members;
  return members;
}

void forget_in(KnownMembers& table, std::uintptr_t handle) {
  {
    const core::Lock lock(table.mutex);
    table.known.erase(handle);
  }
  generation.fetch_add(1, std::memory_order_release);
}

}  // namespace

MembersRef members_of(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || grid() == nullptr) return nullptr;
  return known_or(comms(), key(comm), [comm] { return found_members(comm); });
}

MembersRef members_of_window(MPI_Win window) {
  if (window == MPI_WIN_NULL || grid() == nullptr) return nullptr;
  return known_or(windows(), key(window), [window] { return found_members_of_window(window); });
}

void forget(MPI_Comm comm) { forget_in(comms(), key(comm)); }
void forget_window(MPI_Win window) { forget_in(windows(), key(window)); }
void forget_datatype() { generation.fetch_add(1, std::memory_order_release); }

}  // namespace isthmus::face::profile
