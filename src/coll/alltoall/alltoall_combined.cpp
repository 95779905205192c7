// For small blocks of one size: all that one cluster has for another goes as one message. Each
// cluster gathers its blocks for the others at its leader; the leaders exchange, turn senders'
// order into receivers' order and scatter (MagPIe's). Blocks within the cluster go by the native
// alltoall meanwhile.
#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {
namespace {

/// `blocks` holds `rows` rows of `columns` blocks; put as columns into `turned`, whose rows are
/// `stride` bytes apart.
void transpose(ConstBytes blocks, std::size_t rows, std::size_t columns, std::size_t size,
               Bytes turned, std::size_t stride) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      copy(blocks.subspan((r * columns + c) * size, size),
           turned.subspan(c * stride + r * size, size));
    }
  }
}

/// Exchanges blocks between my cluster and the others, at my leader. The members give all their
/// blocks for remote ranks, cluster by cluster; each member gets its own blocks.
Task exchange(Party& party, ConstBytes given, Bytes taken, std::size_t size) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const auto members = layout.members(here).size();
  const std::size_t remote = static_cast<std::size_t>(layout.size()) - members;
  std::vector<Buffer> outgoing, incoming;
  std::vector<Pending> pending;
  std::size_t at = 0;
  for (int c = 0; c < layout.clusters(); ++c) {
    if (c == here) continue;
    const auto theirs = layout.members(c).size();
    auto& out = outgoing.emplace_back(members * theirs * size);
    for (std::size_t m = 0; m < members; ++m) {
      copy(given.subspan((m * remote + at) * size, theirs * size),
           out.part(m * theirs * size, theirs * size));
    }
    pending.push_back(party.send(layout.leader(c), kTagAlltoall, out.bytes()));
    auto& in = incoming.emplace_back(members * theirs * size);
    pending.push_back(party.recv(layout.leader(c), kTagAlltoall, in.bytes()));
    at += theirs;
  }
  for (auto& p : pending) co_await p;
  at = 0;
  auto in = incoming.begin();
  for (int c = 0; c < layout.clusters(); ++c) {
    if (c == here) continue;
    const auto theirs = layout.members(c).size();
    transpose((in++)->bytes(), theirs, members, size, taken.subspan(at * size), remote * size);
    at += theirs;
  }
}

}  // namespace

Task alltoall_combined(Party& party, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                       Parameters) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party), clusters = layout.clusters();
  const std::size_t size = out_sizes.front();
  for (std::size_t r = 0; r < out_sizes.size(); ++r) {
    if (out_sizes[r] != size || in_sizes[r] != size) {
      throw std::logic_error("alltoall_combined: blocks are not of one size");
    }
  }
  if (size == 0) co_return;
  const Sizes from = offsets_of(out_sizes), to = offsets_of(in_sizes);
  const auto members = layout.members(here).size();
  const std::size_t remote = (out_sizes.size() - members) * size;

  SourcePortion source(layout, here, out, from);
  TargetPortion target(layout, here, in, to);
  const Sizes local(members, size);
  Pending within = party.local_alltoall(source.bytes(), local, target.bytes(), local);
  if (clusters > 1) {
    Buffer mine(remote);
    const Sizes each(members, remote);
    Buffer given(is_leader(party) ? members * remote : 0);
    Buffer taken(is_leader(party) ? members * remote : 0);
    std::size_t at = 0;
    for (int c = 0; c < clusters; ++c) {
      if (c == here) continue;
      const SourcePortion portion(layout, c, out, from);
      copy(portion.bytes(), mine.part(at, portion.bytes().size()));
      at += portion.bytes().size();
    }
    co_await party.local_gather(mine.bytes(), given.bytes(), each, 0);
    if (is_leader(party)) co_await exchange(party, given.bytes(), taken.bytes(), size);
    co_await party.local_scatter(taken.bytes(), each, mine.bytes(), 0);
    at = 0;
    for (int c = 0; c < clusters; ++c) {
      if (c == here) continue;
      TargetPortion portion(layout, c, in, to);
      copy(mine.part(at, portion.bytes().size()), portion.bytes());
      portion.store();
      at += portion.bytes().size();
    }
  }
  co_await within;
  target.store();
}

namespace {

double cost_alltoall_combined(const Setting& setting, const Parameters&) {
  const Shape shape(setting);
  const auto share = setting.bytes() / static_cast<std::size_t>(shape.ranks) *
                     static_cast<std::size_t>(shape.members * shape.members);
  const auto all = share * static_cast<std::size_t>(shape.others);
  // The leader copies every block twice, which takes some nanoseconds each. It copies all members'
  // bytes into new memory. An alltoall of 128 KiB took 44 us instead of 16, and 185 if the kernel
  // had to provide that memory (two ranks on one host, November 2026).
  const double copies = 10e-9 * shape.members * shape.ranks + 0.5e-9 * static_cast<double>(2 * all);
  return 2 * native_gather(setting.network, shape.members, all) + far_message(setting, share) +
         copies;
}

}  // namespace

extern const Algorithm kAlltoallCombined{
    Kind::Alltoall,         "combined",        kKnownBytes, kNone,
    cost_alltoall_combined, alltoall_combined, kMagPIe};

}  // namespace isthmus::coll
