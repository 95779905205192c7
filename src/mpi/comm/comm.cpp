#include "mpi/comm/comm.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "core/base/mutex.hpp"
#include "core/trace/trace.hpp"
#include "mpi/comm/comm_table.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/differences.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/runs.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {

std::atomic<GridComm*> world_comm{nullptr};
namespace {

CommTable table;
// Owns what `table` points to; share_comm goes through the object itself. Never destroyed: a
// program that exits without MPI_Finalize must not free communicators then.
struct Owners {
  core::Mutex mutex;
  std::unordered_map<GridComm*, GridCommRef> comms GUARDED_BY(mutex);
  std::unordered_set<std::string> ended_runs GUARDED_BY(mutex);
};
Owners& owners() {
  static Owners& all = *new Owners;
  return all;
}

std::vector<int> clusters_of(const core::Group& group) {
  await_world(group);
  std::vector<int> clusters;
  clusters.reserve(static_cast<std::size_t>(group.size()));
  for (int r : group.nodes()) clusters.push_back(static_cast<int>(grid()->world().cluster_of(r)));
  return clusters;
}

std::vector<std::string> runs_among(const coll::Layout& layout, const core::Group& group) {
  const core::World& world = grid()->world();
  std::vector<std::string> runs;
  for (int i = 0; i < layout.clusters(); ++i) {
    const std::string& run = world.clusters[world.cluster_of(group.node(layout.leader(i)))].run;
    if (!run.empty() && std::find(runs.begin(), runs.end(), run) == runs.end()) {
      runs.push_back(run);
    }
  }
  return runs;
}

bool formats_differ_among(const coll::Layout& layout) {
  const std::span<const core::Cluster> clusters = grid()->world().clusters;
  const auto of = [&](int i) -> const core::Cluster& {
    return clusters[static_cast<std::size_t>(layout.number_of(i))];
  };
  bool differ = false;
  for (int i = 1; i < layout.clusters(); ++i) {
    differ = meet_difference(of(0), of(i)) != Differences::None || differ;
  }
  return differ;
}

bool all_of_my_part(const coll::Layout& layout) {
  const Grid& here = *grid();
  const std::span<const core::Cluster> clusters = here.world().clusters;
  for (int i = 0; i < layout.clusters(); ++i) {
    const auto number = static_cast<std::size_t>(layout.number_of(i));
    if (clusters[number].part != clusters[here.cluster].part) return false;
  }
  return true;
}

}  // namespace

// A process that names another has heard of it, but the gateway's news may reach this process a
// little later.
void await_world(const core::Group& group) {
  Grid& here = *grid();
  const std::vector<int> ranks = group.nodes();
  const int most = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
  while (most >= here.world().size()) {
    const std::uint32_t seen = here.endpoint->events();
    here.learn_world(here.endpoint->world());
    if (most < here.world().size()) return;
    here.endpoint->wait_event(seen, std::chrono::milliseconds(10));
  }
}

GridComm::GridComm(core::Group group_, std::uint64_t context_, MPI_Comm native_)
    : context(context_), group(std::move(group_)), native(native_), layout(clusters_of(group)) {
  runs = runs_among(layout, group);
  if (runs.empty()) {  // other runs need not have the same settings
    forced = grid()->forced;
    reorders = grid()->reorders;
    reproducible = grid()->reproducible;
  }
  size = group.size();
  rank = group.rank_of(grid()->node).value();
  const auto mine = layout.members(layout.cluster_of(rank));
  members.assign(mine.begin(), mine.end());
  native_rank = layout.index_of(rank);
  first_member = members.front();
  const bool block = members.back() - first_member + 1 == static_cast<int>(members.size());
  contiguous = block ? static_cast<unsigned>(members.size()) : 0;
  mixes_formats = formats_differ_among(layout);
  within_part = all_of_my_part(layout);
}

GridComm::~GridComm() {
  if (!grid()) return;  // MPI_Finalize frees what is left
  choose_link(core::kAnyLink);
  const Inside inside;
  if (last_handler != MPI_ERRHANDLER_NULL) isthmus::face::native.Errhandler_free(&last_handler);
}

// Messages under way keep the link that they have begun with.
void GridComm::choose_link(core::LinkChoice choice) {
  if (std::exchange(link, choice) == choice) return;
  grid()->endpoint->locked([this](core::Engine& engine) {
    engine.choose_link(context, link);
    engine.choose_link(collective_context(), link);
  });
}

int GridComm::search_native_rank(int r) const {
  const auto at = std::lower_bound(members.begin(), members.end(), r);
  return at != members.end() && *at == r ? static_cast<int>(at - members.begin()) : -1;
}

int GridComm::shadow_rank_of(int r) const {
  return tags.own() ? native_rank_of(r) : grid()->native_of(group.node(r));
}

GridComm* find_comm(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return world_comm.load(std::memory_order_acquire);
  return static_cast<GridComm*>(table.find(key(handle)));
}

void find_context(std::uint64_t context, const std::function<void(const GridComm&)>& use) {
  const core::Lock lock(owners().mutex);
  for (const auto& [comm, owner] : owners().comms) {
    if (comm->context == context) return use(*comm);
  }
}

std::vector<GridCommRef> revoked_comms() {
  const core::Lock lock(owners().mutex);
  std::vector<GridCommRef> revoked;
  for (const auto& [comm, owner] : owners().comms) {
    if (comm->survival.revoked.load(std::memory_order_acquire)) revoked.push_back(owner);
  }
  return revoked;
}

bool note_end_of(const std::string& run) {
  const core::Lock lock(owners().mutex);
  owners().ended_runs.insert(run);
  return std::any_of(owners().comms.begin(), owners().comms.end(), [&run](const auto& entry) {
    const GridComm& comm = *entry.first;
    return !comm.disconnecting.load(std::memory_order_acquire) &&
           std::find(comm.runs.begin(), comm.runs.end(), run) != comm.runs.end();
  });
}

bool has_ended(const std::string& run) {
  const core::Lock lock(owners().mutex);
  return owners().ended_runs.contains(run);
}

void find_handle(MPI_Comm handle, const std::function<void(const GridComm&)>& use) {
  const core::Lock lock(owners().mutex);
  const auto at = owners().comms.find(find_comm(handle));
  if (at != owners().comms.end()) use(*at->first);
}

GridCommRef share_comm(MPI_Comm handle) {
  GridComm* comm = find_comm(handle);
  return comm ? comm->shared_from_this() : nullptr;
}

GridCommRef make_comm(core::Group group, std::uint64_t context, MPI_Comm handle, TagRange tags) {
  auto comm = std::make_shared<GridComm>(std::move(group), context, handle);
  comm->tags = std::move(tags);
  return comm;
}

void enter_comm(const GridCommRef& comm) {
  core::trace::note<core::trace::Event::CommMade>(comm->context, comm->size, comm->rank,
                                                  comm->members.size());
  {
    const core::Lock lock(owners().mutex);
    owners().comms[comm.get()] = comm;
  }
  if (comm->native == MPI_COMM_WORLD) {
    world_comm.store(comm.get(), std::memory_order_release);
  } else {
    table.insert(key(comm->native), comm.get());
  }
  if (const auto look = on_entered.load()) look(*comm);
}

GridCommRef register_comm(core::Group group, std::uint64_t context, MPI_Comm handle,
                          TagRange tags) {
  GridCommRef comm = make_comm(std::move(group), context, handle, std::move(tags));
  enter_comm(comm);
  return comm;
}

void unregister_comm(MPI_Comm handle) {
  GridComm* comm = find_comm(handle);
  if (!comm) return;
  core::trace::note<core::trace::Event::CommFreed>(comm->context, comm->size, comm->rank);
  if (handle == MPI_COMM_WORLD) {
    world_comm.store(nullptr, std::memory_order_release);
  } else {
    table.erase(key(handle));
  }
  GridCommRef last;  // destroyed after the lock is gone
  const core::Lock lock(owners().mutex);
  const auto at = owners().comms.find(comm);
  if (at == owners().comms.end()) return;
  last = std::move(at->second);
  owners().comms.erase(at);
}

std::uint64_t random_context() {
  std::random_device random;  // may throw; then a context cannot be made
  const std::uint64_t number = std::uint64_t{random()} << 32 | random();
  return traffic::kRandomContext | (number & (traffic::kRandomContext - 2));
}

std::uint64_t fresh_context() {
  if (knows_guests()) return random_context();
  static std::atomic<std::uint32_t> next{2};
  const auto low = next.fetch_add(2, std::memory_order_relaxed);
  return (static_cast<std::uint64_t>(grid()->node) << 32) | low;
}

}  // namespace isthmus::face
