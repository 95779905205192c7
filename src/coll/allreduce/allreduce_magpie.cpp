// Each cluster reduces to its leader, and the leaders exchange their partial results. Each leader
// combines all of them in cluster order, so every cluster computes the same bits, and broadcasts.
#include "coll/allreduce/allreduce.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {
namespace {

Task exchange_partials(Party& party, ConstBytes in, Bytes out, std::size_t count,
                       Reduction& reduction) {
  const Layout& layout = party.layout();
  const std::size_t size = reduction.packed_size(count);
  const auto clusters = static_cast<std::size_t>(layout.clusters());
  Buffer partials(is_leader(party) ? clusters * size : 0);
  Bytes here;
  std::vector<Pending> pending;
  if (is_leader(party)) {
    for (int c = 0; c < layout.clusters(); ++c) {
      const Bytes partial = partials.part(static_cast<std::size_t>(c) * size, size);
      if (c == my_cluster(party)) {
        here = partial;
      } else {
        pending.push_back(party.recv(layout.leader(c), kTagAllreduce, partial));
      }
    }
  }
  co_await party.local_reduce(in, here, count, reduction, 0);
  if (!is_leader(party)) co_return;
  for (int c = 0; c < layout.clusters(); ++c) {
    if (c == my_cluster(party)) continue;
    pending.push_back(party.send(layout.leader(c), kTagAllreduce, here));
  }
  for (auto& p : pending) co_await p;
  copy(fold(reduction, partials, size, clusters, count), out);
}

Task exchange_contributions(Party& party, ConstBytes in, Bytes out, std::size_t count,
                            Reduction& reduction) {
  Buffer all;
  co_await collect_contributions(party, in, all, -1, kTagAllreduce);
  if (!is_leader(party)) co_return;
  const auto ranks = static_cast<std::size_t>(party.layout().size());
  copy(fold(reduction, all, in.size(), ranks, count), out);
}

}  // namespace

Task allreduce_magpie(Party& party, ConstBytes in, Bytes out, std::size_t count,
                      Reduction& reduction, Parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  if (by_cluster(party, reduction)) {
    co_await exchange_partials(party, in, out, count, reduction);
  } else {
    co_await exchange_contributions(party, in, out, count, reduction);
  }
  co_await party.local_bcast(out, 0);
}

double cost_allreduce_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  return cost_reduce_magpie(setting, {}) + noticed_late(setting) +
         native_bcast(setting.network, members, setting.bytes());
}

extern const Algorithm kAllreduceMagpie{Kind::Allreduce,       "magpie",         kNothing, kNone,
                                        cost_allreduce_magpie, allreduce_magpie, kMagPIe};

}  // namespace isthmus::coll
