// Each leader collects what its cluster's members have for all ranks, and sends every rank its
// part. For very short blocks of one size and few ranks (fan.hpp).
#include <stdexcept>

#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/fan.hpp"

namespace isthmus::coll {

Task alltoall_fan(Party& party, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                  Parameters) {
  const Layout& layout = party.layout();
  const std::size_t size = out_sizes.front();
  for (std::size_t r = 0; r < out_sizes.size(); ++r) {
    if (out_sizes[r] != size || in_sizes[r] != size) {
      throw std::logic_error("alltoall_fan: blocks are not of one size");
    }
  }
  if (size == 0) co_return;
  const Sizes to = offsets_of(in_sizes);
  const auto members = layout.members(my_cluster(party)).size();
  std::vector<TargetPortion> portions;
  portions.reserve(static_cast<std::size_t>(layout.clusters()));
  std::vector<Pending> pending;
  for (int c = 0; c < layout.clusters(); ++c) portions.emplace_back(layout, c, in, to);
  const auto place = [&](int c) { return portions[static_cast<std::size_t>(c)].bytes(); };
  receive_from_leaders(party, kTagAlltoall, place, pending);
  Buffer given(is_leader(party) ? members * out.size() : 0), parts(given.size());
  co_await fan_in(party, out, given.bytes(), Sizes(members, out.size()), kTagAlltoall);
  const auto part_of = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    const Bytes part = parts.part(r * members * size, members * size);
    for (std::size_t i = 0; i < members; ++i) {
      copy(given.part(i * out.size() + r * size, size), part.subspan(i * size, size));
    }
    return ConstBytes(part);
  };
  if (is_leader(party)) {
    copy(part_of(party.rank()), place(my_cluster(party)));
    fan_out(party, kTagAlltoall, part_of, pending);
  }
  for (auto& p : pending) co_await p;
  for (auto& portion : portions) portion.store();
}

namespace {

double cost_alltoall_fan(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const double copies = 10e-9 * shape.members * shape.ranks;
  return cost_of_fan(setting, shape.bytes, shape.bytes / shape.ranks * shape.members) + copies;
}

}  // namespace

extern const Algorithm kAlltoallFan{Kind::Alltoall,    "fan",        kKnownBytes, kNone,
                                    cost_alltoall_fan, alltoall_fan, ""};

}  // namespace isthmus::coll
