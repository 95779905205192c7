#include "coll/inter/subset.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "coll/engine/phases.hpp"
#include "coll/inter/local_messages.hpp"

namespace isthmus::coll {
namespace {

Layout layout_of(const Layout& whole, const std::vector<int>& members) {
  std::vector<int> clusters;
  clusters.reserve(members.size());
  for (const int member : members) {
    clusters.push_back(whole.number_of(whole.cluster_of(member)));
  }
  return Layout(clusters);
}

/// A phase under way.
class Phase final : public Operation {
 public:
  explicit Phase(Task task) : task_(std::move(task)) { task_.step(); }
  bool poll() override { return task_.finished() || task_.step(); }

 private:
  Task task_;
};

Pending begin(Task task) { return Pending(std::make_unique<Phase>(std::move(task))); }

Sizes kept(std::span<const std::size_t> sizes) { return {sizes.begin(), sizes.end()}; }

}  // namespace

Subset::Subset(Party& whole, std::vector<int> members, Lane lane)
    : whole_(whole),
      members_(std::move(members)),
      layout_(layout_of(whole.layout(), members_)),
      rank_(rank_of(whole.rank())),
      lane_(lane) {
  const Layout& all = whole.layout();
  const auto mine = layout_.members(layout_.cluster_of(rank_));
  complete_ = lane == Lane::None && mine.size() == all.members(all.cluster_of(whole.rank())).size();
}

int Subset::rank_of(int whole_rank) const {
  const auto at = std::lower_bound(members_.begin(), members_.end(), whole_rank);
  return static_cast<int>(at - members_.begin());
}

void Subset::chosen(const Problem& problem, const Choice& choice) {
  whole_.chosen(problem, choice);
}

int Subset::tag_in_lane(int tag) const {
  if (lane_ != Lane::Second) return tag;
  if (tag >= kTagSecondLane) throw std::logic_error("a collective that has no second lane");
  return kTagSecondLane + tag;
}

Pending Subset::send(int rank, int tag, ConstBytes data) {
  return whole_.send(members_[static_cast<std::size_t>(rank)], tag_in_lane(tag), data);
}
Pending Subset::recv(int rank, int tag, Bytes data) {
  return whole_.recv(members_[static_cast<std::size_t>(rank)], tag_in_lane(tag), data);
}
Pending Subset::send_synchronous(int rank, int tag, ConstBytes data) {
  return whole_.send_synchronous(members_[static_cast<std::size_t>(rank)], tag_in_lane(tag), data);
}

/// All members of a cluster begin their phases in one order, so each has a tag of its own.
Locals Subset::here() {
  const int cluster = layout_.cluster_of(rank_);
  Locals locals{&whole_, {}, layout_.index_of(rank_), 0};
  for (const int member : layout_.members(cluster)) {
    locals.ranks.push_back(members_[static_cast<std::size_t>(member)]);
  }
  locals.tag = tag_local_phase(whole_.layout().clusters(), phases_++, lane_ == Lane::Second);
  return locals;
}

Pending Subset::local_barrier() {
  return complete_ ? whole_.local_barrier() : begin(barrier_of(here()));
}
Pending Subset::local_bcast(Bytes data, int root) {
  return complete_ ? whole_.local_bcast(data, root) : begin(bcast_of(here(), data, root));
}
Pending Subset::local_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes,
                             int root) {
  if (complete_) return whole_.local_gather(mine, all, sizes, root);
  return begin(gather_of(here(), mine, all, kept(sizes), root));
}
Pending Subset::local_scatter(ConstBytes all, std::span<const std::size_t> sizes, Bytes mine,
                              int root) {
  if (complete_) return whole_.local_scatter(all, sizes, mine, root);
  return begin(scatter_of(here(), all, kept(sizes), mine, root));
}
Pending Subset::local_allgather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) {
  if (complete_) return whole_.local_allgather(mine, all, sizes);
  return begin(allgather_of(here(), mine, all, kept(sizes)));
}
Pending Subset::local_alltoall(ConstBytes out, std::span<const std::size_t> out_sizes, Bytes in,
                               std::span<const std::size_t> in_sizes) {
  if (complete_) return whole_.local_alltoall(out, out_sizes, in, in_sizes);
  return begin(alltoall_of(here(), out, kept(out_sizes), in, kept(in_sizes)));
}
Pending Subset::local_reduce(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                             int root) {
  if (complete_) return whole_.local_reduce(in, out, count, reduction, root);
  return begin(reduce_of(here(), in, out, count, reduction, root));
}
Pending Subset::local_scan(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  if (complete_) return whole_.local_scan(in, out, count, reduction);
  return begin(scan_of(here(), in, out, count, reduction));
}

}  // namespace isthmus::coll
