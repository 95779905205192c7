// Each leader collects its cluster's blocks and sends all of them to every rank. For very short
// blocks and few ranks (fan.hpp).
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/fan.hpp"

namespace isthmus::coll {

Task allgather_fan(Party& party, ConstBytes mine, Bytes all, Sizes sizes, Parameters) {
  const Layout& layout = party.layout();
  const Sizes offsets = offsets_of(sizes);
  if (offsets.back() == 0) co_return;
  const int here = my_cluster(party);
  std::vector<TargetPortion> portions;
  portions.reserve(static_cast<std::size_t>(layout.clusters()));
  std::vector<Pending> pending;
  for (int c = 0; c < layout.clusters(); ++c) portions.emplace_back(layout, c, all, offsets);
  const auto place = [&](int c) { return portions[static_cast<std::size_t>(c)].bytes(); };
  receive_from_leaders(party, kTagAllgather, place, pending);
  const Bytes own = place(here);
  co_await fan_in(party, mine, own, sizes_in(layout, here, sizes), kTagAllgather);
  const auto whole = [&](int) { return ConstBytes(own); };
  fan_out(party, kTagAllgather, whole, pending);
  for (auto& p : pending) co_await p;
  for (auto& portion : portions) portion.store();
}

double cost_allgather_fan(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double share = shape.bytes * shape.members / shape.ranks;
  return cost_of_fan(setting, shape.bytes / shape.ranks, share) +
         crowding(setting, share * (shape.ranks - shape.members - shape.others));
}

namespace {

// Others are made of it, and have no tree to be compared with.
double cost_fan_beside_tree(const Setting& setting, const Parameters& parameters) {
  const std::size_t share = setting.bytes() / static_cast<std::size_t>(setting.layout.clusters());
  return cost_allgather_fan(setting, parameters) + detours(setting, share);
}

}  // namespace

extern const Algorithm kAllgatherFan{Kind::Allgather,      "fan",         kNothing, kNone,
                                     cost_fan_beside_tree, allgather_fan, ""};

}  // namespace isthmus::coll
