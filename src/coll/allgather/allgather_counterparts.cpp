// For short blocks: a native allgather in each cluster, then each member sends all of its cluster's
// blocks to its counterparts in the other clusters. Each block crosses once for every member there.
// In return, nothing remains to be done in a cluster once the blocks have come: each rank ends one
// delay after the start.
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {

Task allgather_counterparts(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  const Layout& layout = party.layout();
  const Sizes offsets = offsets_of(sizes);
  if (offsets.back() == 0) co_return;
  const int here = my_cluster(party);
  const auto me = static_cast<std::size_t>(my_index(party));
  const Sizes local = sizes_in(layout, here, sizes);
  std::vector<TargetPortion> portions;
  portions.reserve(static_cast<std::size_t>(layout.clusters()));
  std::vector<Pending> pending;
  for (int c = 0; c < layout.clusters(); ++c) {
    const Bytes place = portions.emplace_back(layout, c, all, offsets).bytes();
    const auto theirs = layout.members(c);
    if (c == here || place.empty()) continue;
    pending.push_back(party.recv(theirs[me % theirs.size()], kTagAllgather, place));
  }
  const Bytes own = portions[static_cast<std::size_t>(here)].bytes();
  co_await party.local_allgather(mine, own, local);
  for (int c = 0; c < layout.clusters(); ++c) {
    if (c == here || own.empty()) continue;
    const auto theirs = layout.members(c);
    for (std::size_t i = me; i < theirs.size(); i += local.size()) {
      pending.push_back(party.send(theirs[i], kTagAllgather, own));
    }
  }
  for (auto& p : pending) co_await p;
  for (auto& portion : portions) portion.store();
}

double cost_allgather_counterparts(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double share = shape.bytes * shape.members / shape.ranks;
  return native_allgather(setting.network, shape.members, static_cast<std::size_t>(share)) +
         2 * shape.others * setting.network.message_cost +
         queueing(setting.network, shape.members) +
         all_at_once(setting, share * shape.others, share * shape.members) +
         crowding(setting, share * (shape.members - 1));
}

namespace {

// Others are made of it, and have no tree to be compared with.
double cost_counterparts_beside_tree(const Setting& setting, const Parameters& parameters) {
  const std::size_t share = setting.bytes() / static_cast<std::size_t>(setting.layout.clusters());
  return cost_allgather_counterparts(setting, parameters) + detours(setting, share);
}

}  // namespace

extern const Algorithm kAllgatherCounterparts{Kind::Allgather,
                                              "counterparts",
                                              kNothing,
                                              kNone,
                                              cost_counterparts_beside_tree,
                                              allgather_counterparts,
                                              ""};

}  // namespace isthmus::coll
