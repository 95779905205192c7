// Each leader combines its cluster's vectors and sends the result to every rank. Each rank combines
// the results of all clusters in cluster order, so all ranks get the same bits. If clusters
// interleave and the order matters, whole vectors go instead. For very short vectors and few ranks
// (fan.hpp).
#include "coll/allgather/allgather.hpp"
#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/fan.hpp"

namespace isthmus::coll {
namespace {

Task of_partials(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  const Layout& layout = party.layout();
  const std::size_t size = in.size();
  const auto clusters = static_cast<std::size_t>(layout.clusters());
  const auto members = layout.members(my_cluster(party)).size();
  Buffer partials(clusters * size), vectors(is_leader(party) ? members * size : 0);
  std::vector<Pending> pending;
  const auto place = [&](int c) { return partials.part(static_cast<std::size_t>(c) * size, size); };
  receive_from_leaders(party, kTagAllreduce, place, pending);
  co_await fan_in(party, in, vectors.bytes(), Sizes(members, size), kTagAllreduce);
  Bytes here;
  if (is_leader(party)) {
    here = place(my_cluster(party));
    copy(fold(reduction, vectors, size, members, count), here);
  }
  const auto partial = [&](int) { return ConstBytes(here); };
  fan_out(party, kTagAllreduce, partial, pending);
  for (auto& p : pending) co_await p;
  copy(fold(reduction, partials, size, clusters, count), out);
}

}  // namespace

static Task allreduce_fan(Party& party, ConstBytes in, Bytes out, std::size_t count,
                          Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  if (by_cluster(party, reduction)) {
    co_await of_partials(party, in, out, count, reduction);
  } else {
    const int last = party.layout().size() - 1;
    co_await prefix(allgather_fan, party, in, out, count, reduction, last);
  }
}

namespace {

double cost_allreduce_fan(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const int far = setting.layout.size() - largest_cluster(setting.layout);
  const double more = bytes * (far - setting.layout.clusters() + 1);
  return cost_of_fan(setting, bytes, bytes) + crowding(setting, more) +
         detours(setting, setting.bytes());
}

}  // namespace

extern const Algorithm kAllreduceFan{Kind::Allreduce,    "fan",         kNothing, kNone,
                                     cost_allreduce_fan, allreduce_fan, ""};

}  // namespace isthmus::coll
