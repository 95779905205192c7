// Each cluster gathers at its leader (the root's at the root); the leaders send one message each
// to the root.
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/gather/gather.hpp"

namespace isthmus::coll {

Task learn_sizes(Party& party, std::size_t mine, Sizes& sizes) {
  if (!sizes.empty()) co_return;
  const std::size_t members = party.layout().members(my_cluster(party)).size();
  Sizes arrived(is_leader(party) ? members : 0);
  const Sizes each(is_leader(party) ? members : 0, sizeof(std::size_t));
  Pending gathered = party.local_gather(std::as_bytes(std::span(&mine, 1)),
                                        std::as_writable_bytes(std::span(arrived)), each, 0);
  co_await gathered;
  sizes = std::move(arrived);
}

namespace {

Task gather_at_root(Party& party, ConstBytes mine, Bytes all, const Sizes& offsets,
                    const Sizes& sizes) {
  const Layout& layout = party.layout();
  std::vector<TargetPortion> portions;
  portions.reserve(static_cast<std::size_t>(layout.clusters()));
  std::vector<Pending> pending;
  const Sizes local = sizes_in(layout, my_cluster(party), sizes);
  for (int c = 0; c < layout.clusters(); ++c) {
    auto& portion = portions.emplace_back(layout, c, all, offsets);
    if (c == my_cluster(party)) {
      pending.push_back(party.local_gather(mine, portion.bytes(), local, my_index(party)));
    } else if (!portion.bytes().empty()) {
      pending.push_back(party.recv(layout.leader(c), kTagGather, portion.bytes()));
    }
  }
  for (auto& p : pending) co_await p;
  for (auto& portion : portions) portion.store();
}

}  // namespace

static Task gather_magpie(Party& party, ConstBytes mine, Bytes all, Sizes sizes, int root,
                          Parameters) {
  const Layout& layout = party.layout();
  if (party.rank() == root) {
    const Sizes offsets = offsets_of(sizes);
    co_await gather_at_root(party, mine, all, offsets, sizes);
    co_return;
  }
  if (my_cluster(party) == layout.cluster_of(root)) {
    Pending given = party.local_gather(mine, {}, {}, layout.index_of(root));
    co_await given;
    co_return;
  }
  Sizes local;
  if (!sizes.empty()) local = sizes_in(layout, my_cluster(party), sizes);
  co_await learn_sizes(party, mine.size(), local);
  Buffer packed(is_leader(party) ? total(local) : 0);
  co_await party.local_gather(mine, packed.bytes(), local, 0);
  if (packed.size() > 0) co_await party.send(root, kTagGather, packed.bytes());
}

double cost_gather_magpie(const Setting& setting, const Parameters&) {
  const int members = largest_cluster(setting.layout);
  const auto share = setting.bytes() * static_cast<std::size_t>(members) /
                     static_cast<std::size_t>(setting.layout.size());
  // All goes through the leader's memory, about this fast.
  const double passing = static_cast<double>(share) / 1e9;
  return native_gather(setting.network, members, share) + far_message(setting, share) + passing;
}

extern const Algorithm kGatherMagpie{Kind::Gather,       "magpie",      kNothing, kNone,
                                     cost_gather_magpie, gather_magpie, kMagPIe};

}  // namespace isthmus::coll
