// Every block to another cluster is a message of its own, all under way at once; the blocks within
// the cluster go by the native alltoall.
#include "coll/implementations.hpp"
#include "coll/phases.hpp"

namespace isthmus::coll {

Task alltoall_direct(Party& party, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                     Parameters) {
  const Layout& layout = party.layout();
  const int here = my_cluster(party);
  const Sizes from = offsets_of(out_sizes);
  const Sizes to = offsets_of(in_sizes);
  const auto size = static_cast<std::size_t>(layout.size());

  std::vector<Pending> pending;
  for (std::size_t r = 0; r < size; ++r) {
    const int rank = static_cast<int>(r);
    if (layout.cluster_of(rank) == here || in_sizes[r] == 0) continue;
    pending.push_back(party.recv(rank, kTagAlltoall, in.subspan(to[r], in_sizes[r])));
  }
  // Begin with the next rank, so that not everybody sends to rank 0 first.
  for (std::size_t i = 1; i < size; ++i) {
    const std::size_t r = (static_cast<std::size_t>(party.rank()) + i) % size;
    const int rank = static_cast<int>(r);
    if (layout.cluster_of(rank) == here || out_sizes[r] == 0) continue;
    pending.push_back(party.send(rank, kTagAlltoall, out.subspan(from[r], out_sizes[r])));
  }
  SourcePortion source(layout, here, out, from);
  TargetPortion target(layout, here, in, to);
  const Sizes local_out = sizes_in(layout, here, out_sizes);
  const Sizes local_in = sizes_in(layout, here, in_sizes);
  pending.push_back(party.local_alltoall(source.bytes(), local_out, target.bytes(), local_in));
  for (auto& p : pending) co_await p;
  target.store();
}

}  // namespace isthmus::coll
