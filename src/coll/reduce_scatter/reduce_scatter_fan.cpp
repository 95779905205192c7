// Each leader combines its cluster's vectors and sends every rank its block of the result. Each
// rank combines the blocks of all clusters, in cluster order. If clusters interleave and the order
// matters, whole vectors go instead. For very short vectors and few ranks (fan.hpp).
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/patterns/fan.hpp"
#include "coll/reduce_scatter/reduce_scatter.hpp"

namespace isthmus::coll {
namespace {

Task of_partials(Party& party, ConstBytes in, Bytes out, const Sizes& offsets, std::size_t count_in,
                 std::size_t count_out, Reduction& reduction) {
  const Layout& layout = party.layout();
  const std::size_t size = out.size();
  const auto clusters = static_cast<std::size_t>(layout.clusters());
  const auto members = layout.members(my_cluster(party)).size();
  Buffer blocks(clusters * size), vectors(is_leader(party) ? members * in.size() : 0);
  std::vector<Pending> pending;
  const auto place = [&](int c) { return blocks.part(static_cast<std::size_t>(c) * size, size); };
  receive_from_leaders(party, kTagReduceScatter, place, pending);
  co_await fan_in(party, in, vectors.bytes(), Sizes(members, in.size()), kTagReduceScatter);
  Bytes partial;
  const auto block_of = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return ConstBytes(partial.subspan(offsets[r], offsets[r + 1] - offsets[r]));
  };
  if (is_leader(party)) {
    partial = fold(reduction, vectors, in.size(), members, count_in);
    copy(block_of(party.rank()), place(my_cluster(party)));
    fan_out(party, kTagReduceScatter, block_of, pending);
  }
  for (auto& p : pending) co_await p;
  if (size > 0) copy(fold(reduction, blocks, size, clusters, count_out), out);
}

Task of_vectors(Party& party, ConstBytes in, Bytes out, std::size_t offset, std::size_t count,
                Reduction& reduction) {
  const auto ranks = static_cast<std::size_t>(party.layout().size());
  Buffer all(ranks * in.size());
  co_await allgather_fan(party, in, all.bytes(), Sizes(ranks, in.size()), {});
  const auto block = [&](std::size_t rank) {
    return all.part(rank * in.size() + offset, out.size());
  };
  copy(block(ranks - 1), out);
  if (out.empty()) co_return;
  for (std::size_t rank = ranks - 1; rank-- > 0;) reduction.combine(block(rank), out, count);
}

}  // namespace

Task reduce_scatter_fan(Party& party, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                        Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  Sizes sizes;
  for (const std::size_t count : counts) sizes.push_back(reduction.packed_size(count));
  const Sizes offsets = offsets_of(sizes);
  const auto me = static_cast<std::size_t>(party.rank());
  if (by_cluster(party, reduction)) {
    co_await of_partials(party, in, out, offsets, total(counts), counts[me], reduction);
  } else {
    co_await of_vectors(party, in, out, offsets[me], counts[me], reduction);
  }
}

namespace {

double cost_reduce_scatter_fan(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_fan(setting, bytes, bytes / setting.layout.size());
}

}  // namespace

extern const Algorithm kReduceScatterFan{
    Kind::ReduceScatter, "fan", kNothing, kNone, cost_reduce_scatter_fan, reduce_scatter_fan, ""};

}  // namespace isthmus::coll
