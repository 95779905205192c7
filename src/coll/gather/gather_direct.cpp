// Every rank sends its block straight to the root: each byte crosses once, without copies on other
// ranks. Blocks from other clusters come without a request. The root calls the members of its own
// cluster one after the other; they fill the rest of its link. All at once they would overrun it,
// and then waiting for lost packets would take longer than waiting for a turn.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/gather/gather.hpp"

namespace isthmus::coll {
namespace {

/// Members of the root's cluster wait with more than this until they are called.
constexpr std::size_t kUncalled = 16 << 10;
/// Number of members that send at a time.
constexpr std::size_t kSenders = 2;

/// Receives the members' blocks (by local index), and calls those whose blocks are long, a few at a
/// time.
Task receive_and_call(Party& party, const std::vector<Bytes>& places) {
  const auto members = party.layout().members(my_cluster(party));
  const auto me = static_cast<std::size_t>(my_index(party));
  std::vector<Pending> arrivals;
  std::vector<int> callers;  // of each arrival; -1: is not called
  for (std::size_t step = 1; step < members.size(); ++step) {
    const std::size_t from = (me + members.size() - step) % members.size();
    if (places[from].empty()) continue;
    arrivals.push_back(party.recv(members[from], kTagGather, places[from]));
    callers.push_back(places[from].size() > kUncalled ? members[from] : -1);
  }
  std::vector<Pending> calls;
  std::vector<Pending*> called;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (callers[i] < 0) continue;
    if (called.size() >= kSenders) co_await *called[called.size() - kSenders];
    calls.push_back(party.send(callers[i], kTagGather, {}));
    called.push_back(&arrivals[i]);
  }
  for (auto& p : calls) co_await p;
  for (auto& p : arrivals) co_await p;
}

Task gather_at_root(Party& party, ConstBytes mine, Bytes all, const Sizes& sizes) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes offsets = offsets_of(sizes);
  std::vector<Pending> pending;
  for (int rank = 0; rank < layout.size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (layout.cluster_of(rank) == here || sizes[r] == 0) continue;
    pending.push_back(party.recv(rank, kTagGather, all.subspan(offsets[r], sizes[r])));
  }
  std::vector<Bytes> places;
  for (const int rank : layout.members(here)) {
    const auto r = static_cast<std::size_t>(rank);
    places.push_back(all.subspan(offsets[r], sizes[r]));
  }
  copy(mine, places[static_cast<std::size_t>(my_index(party))]);
  co_await receive_and_call(party, places);
  for (auto& p : pending) co_await p;
}

}  // namespace

Task gather_direct(Party& party, ConstBytes mine, Bytes all, Sizes sizes, int root, Parameters) {
  const Layout& layout = party.layout();
  if (party.rank() == root) {
    co_await gather_at_root(party, mine, all, sizes);
    co_return;
  }
  if (mine.empty()) co_return;
  if (my_cluster(party) == layout.cluster_of(root) && mine.size() > kUncalled) {
    Pending call = party.recv(root, kTagGather, {});
    co_await call;
  }
  co_await party.send(root, kTagGather, mine);
}

double cost_gather_direct(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  // Not known: as if long, since a leader in between costs long blocks more than it saves short
  // ones. Beyond a thousand ranks it does not.
  if (!setting.problem.bytes && shape.ranks <= 1024) return 0;
  const int far = shape.ranks - shape.members;
  const double far_bytes = shape.bytes * far / shape.ranks;
  return far * setting.network.message_cost +
         all_at_once(setting, shape.bytes * (shape.ranks - 1) / shape.ranks, far_bytes);
}

extern const Algorithm kGatherDirect{Kind::Gather,       "direct",      kNothing, kNone,
                                     cost_gather_direct, gather_direct, ""};

}  // namespace isthmus::coll
