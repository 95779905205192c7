#include "sim/party.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "coll/engine/choose.hpp"
#include "coll/engine/phases.hpp"
#include "sim/natives.hpp"
#include "sim/simulation.hpp"

namespace isthmus::sim {

using coll::Bytes;
using coll::ConstBytes;
using coll::Pending;
using coll::Sizes;
using SizesGiven = std::span<const std::size_t>;

const coll::Layout& SimulatedParty::layout() const { return simulation_.platform().layout; }
const coll::Network& SimulatedParty::network() const { return simulation_.platform().network; }
const coll::Forced& SimulatedParty::forced() const { return simulation_.forced(); }
void SimulatedParty::chosen(const coll::Problem&, const coll::Choice& choice) {
  simulation_.chosen(choice);
}

double SimulatedParty::handle(double now) {
  const coll::Network& known = network();
  const bool alone = now - free_ > known.message_cost;
  free_ = std::max(now, free_) + (alone ? known.message_cost : known.stream_cost);
  return free_;
}

void SimulatedParty::compute(double seconds) {
  free_ = std::max(simulation_.now(), free_) + seconds;
}

Pending SimulatedParty::send(int rank, int tag, ConstBytes data) {
  return simulation_.send(*this, rank, tag, data, false);
}
Pending SimulatedParty::send_synchronous(int rank, int tag, ConstBytes data) {
  return simulation_.send(*this, rank, tag, data, true);
}
Pending SimulatedParty::recv(int rank, int tag, Bytes data) {
  return simulation_.recv(*this, rank, tag, data);
}

coll::Locals SimulatedParty::here() {
  const int cluster = layout().cluster_of(rank_);
  // No two of this cluster's phases have the same tag, since a rank may be phases ahead.
  const int tag = coll::tags_of(layout().clusters()) + phases_++;
  const auto members = layout().members(cluster);
  return {this, {members.begin(), members.end()}, layout().index_of(rank_), tag};
}

/// A local phase under way. Its rank advances it during any other wait.
struct SimulatedParty::Phase final : coll::Operation {
  Phase(SimulatedParty& party_, coll::Task task_) : party(party_), task(std::move(task_)) {
    party.under_way_.push_back(this);
  }
  ~Phase() override { std::erase(party.under_way_, this); }
  bool poll() override { return task.step(); }
  SimulatedParty& party;
  coll::Task task;
};

Pending SimulatedParty::phase(coll::Task task) {
  Pending under_way(std::make_unique<Phase>(*this, std::move(task)));
  under_way.done();  // begins
  return under_way;
}

void SimulatedParty::advance_phases() {
  for (Phase* phase : under_way_) phase->poll();
}

Pending SimulatedParty::local_barrier() { return phase(native_barrier(here())); }
Pending SimulatedParty::local_bcast(Bytes data, int root) {
  return phase(native_bcast(here(), data, root));
}
Pending SimulatedParty::local_gather(ConstBytes mine, Bytes all, SizesGiven sizes, int root) {
  return phase(coll::gather_of(here(), mine, all, Sizes(sizes.begin(), sizes.end()), root));
}
Pending SimulatedParty::local_scatter(ConstBytes all, SizesGiven sizes, Bytes mine, int root) {
  return phase(coll::scatter_of(here(), all, Sizes(sizes.begin(), sizes.end()), mine, root));
}
Pending SimulatedParty::local_allgather(ConstBytes mine, Bytes all, SizesGiven sizes) {
  return phase(native_allgather(here(), mine, all, sizes));
}
Pending SimulatedParty::local_alltoall(ConstBytes out, SizesGiven out_sizes, Bytes in,
                                       SizesGiven in_sizes) {
  return phase(coll::alltoall_of(here(), out, Sizes(out_sizes.begin(), out_sizes.end()), in,
                                 Sizes(in_sizes.begin(), in_sizes.end())));
}
Pending SimulatedParty::local_reduce(ConstBytes in, Bytes out, std::size_t count,
                                     coll::Reduction& reduction, int root) {
  return phase(coll::reduce_of(here(), in, out, count, reduction, root));
}
Pending SimulatedParty::local_scan(ConstBytes in, Bytes out, std::size_t count,
                                   coll::Reduction& reduction) {
  return phase(native_scan(here(), in, out, count, reduction));
}

}  // namespace isthmus::sim
