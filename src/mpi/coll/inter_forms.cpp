// Collectives of intercommunicators that move data, and the barrier.
#include "mpi/coll/inter_forms.hpp"

#include <algorithm>

#include "mpi/coll/inter_collective.hpp"

namespace isthmus::face::inter_forms {

using coll::Bytes;
using coll::ConstBytes;
using coll::Party;
using coll::TwoSides;

int barrier(const Call& call) {
  return launch_inter(call, {}, {}, {}, [](Party& party, TwoSides, ConstBytes, Bytes) {
    return coll::barrier(party);
  });
}

int bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, const Call& call) {
  const int among = root_among_both(*call.comm, root);
  if (among == coll::kNoPart) return launch_without_part(call, Outline::Kind::Bcast);
  check_given(*call.comm, buffer, count, type);
  OutBlocks source;
  InBlocks data;
  if (root == MPI_ROOT) {
    source = OutBlocks(*call.comm, one_block(buffer, count, type));
  } else {
    data = InBlocks(*call.comm, one_block(buffer, count, type), !call.blocking());
  }
  Outline outline{.kind = Outline::Kind::Bcast,
                  .root = among,
                  .count = std::max(source.bytes().size(), data.bytes().size())};
  return launch_inter(call, std::move(source), std::move(data), std::move(outline),
                      [among](Party& party, TwoSides sides, ConstBytes out, Bytes in) {
                        // The root's memory is only read.
                        const Bytes given(const_cast<std::byte*>(out.data()), out.size());
                        return coll::inter_bcast(party, sides, party.rank() == among ? given : in,
                                                 among);
                      });
}

namespace {

/// The sizes of all members on my side, if all their blocks are of one size.
coll::Sizes known_sizes(const GridComm& intercomm, std::size_t each, coll::Blocks blocks) {
  if (blocks == coll::Blocks::Uneven) return {};
  return coll::Sizes(static_cast<std::size_t>(intercomm.inter->local_size()), each);
}

Outline rooted(Outline::Kind kind, int root, coll::Blocks blocks, const coll::Sizes& sizes) {
  Outline outline{.kind = kind, .even = blocks == coll::Blocks::Even, .root = root};
  if (outline.even && !sizes.empty()) outline.count = sizes.front();
  return outline;
}

std::vector<Outline::Edge> away_edges(const GridComm& intercomm, int root,
                                      const coll::Sizes& sizes) {
  if (root != MPI_ROOT) return {};
  return Outline::edges(sizes, intercomm.inter->there);
}

}  // namespace

int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
           std::vector<Block> received, coll::Blocks blocks, int root, const Call& call) {
  const int among = root_among_both(*call.comm, root);
  if (among == coll::kNoPart) return launch_without_part(call, Outline::Kind::Gather);
  OutBlocks mine;
  InBlocks all;
  coll::Sizes sizes;
  if (root == MPI_ROOT) {
    all = InBlocks(*call.comm, std::move(received), !call.blocking());
    sizes = all.sizes();
  } else {
    check_given(*call.comm, sendbuf, sendcount, sendtype);
    mine = OutBlocks(*call.comm, one_block(sendbuf, sendcount, sendtype));
    sizes = known_sizes(*call.comm, mine.bytes().size(), blocks);
  }
  Outline outline = rooted(Outline::Kind::Gather, among, blocks, sizes);
  outline.in = away_edges(*call.comm, root, all.sizes());
  if (root != MPI_ROOT) outline.out.push_back({among, mine.bytes().size()});
  return launch_inter(call, std::move(mine), std::move(all), std::move(outline),
                      [among, sizes](Party& party, TwoSides sides, ConstBytes out, Bytes in) {
                        return coll::inter_gather(party, sides, out, in, sizes, among);
                      });
}

int scatter(const std::vector<Block>& sent, void* recvbuf, MPI_Count recvcount,
            MPI_Datatype recvtype, coll::Blocks blocks, int root, const Call& call) {
  const int among = root_among_both(*call.comm, root);
  if (among == coll::kNoPart) return launch_without_part(call, Outline::Kind::Scatter);
  OutBlocks all;
  InBlocks mine;
  coll::Sizes sizes;
  if (root == MPI_ROOT) {
    all = OutBlocks(*call.comm, sent);
    sizes = all.sizes();
  } else {
    check_given(*call.comm, recvbuf, recvcount, recvtype);
    mine = InBlocks(*call.comm, one_block(recvbuf, recvcount, recvtype), !call.blocking());
    sizes = known_sizes(*call.comm, mine.bytes().size(), blocks);
  }
  Outline outline = rooted(Outline::Kind::Scatter, among, blocks, sizes);
  outline.out = away_edges(*call.comm, root, all.sizes());
  if (root != MPI_ROOT) outline.in.push_back({among, mine.bytes().size()});
  return launch_inter(call, std::move(all), std::move(mine), std::move(outline),
                      [among, sizes](Party& party, TwoSides sides, ConstBytes out, Bytes in) {
                        return coll::inter_scatter(party, sides, out, sizes, in, among);
                      });
}

int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
              std::vector<Block> received, const Call& call) {
  check_given(*call.comm, sendbuf, sendcount, sendtype);
  InBlocks all(*call.comm, std::move(received), !call.blocking());
  const coll::Sizes sizes = all.sizes();
  OutBlocks mine(*call.comm, one_block(sendbuf, sendcount, sendtype));
  Outline outline = across(Outline::Kind::Allgather, *call.comm);
  outline.sizes.resize(static_cast<std::size_t>(call.comm->inter->whole->size));
  std::copy(sizes.begin(), sizes.end(), outline.sizes.begin() + call.comm->inter->there);
  outline.sizes[static_cast<std::size_t>(call.comm->inter->whole->rank)] = mine.bytes().size();
  return launch_inter(call, std::move(mine), std::move(all), std::move(outline),
                      [sizes](Party& party, TwoSides sides, ConstBytes out, Bytes in) {
                        return coll::inter_allgather(party, sides, out, in, sizes);
                      });
}

int alltoall(const std::vector<Block>& sent, std::vector<Block> received, const Call& call) {
  OutBlocks out(*call.comm, sent);
  InBlocks in(*call.comm, std::move(received), !call.blocking());
  auto begin = [out_sizes = out.sizes(), in_sizes = in.sizes()](Party& party, TwoSides sides,
                                                                ConstBytes given, Bytes come) {
    return coll::inter_alltoall(party, sides, given, out_sizes, come, in_sizes);
  };
  Outline outline{.kind = Outline::Kind::Alltoall};
  outline.out = Outline::edges(out.sizes(), call.comm->inter->there);
  outline.in = Outline::edges(in.sizes(), call.comm->inter->there);
  return launch_inter(call, std::move(out), std::move(in), std::move(outline), std::move(begin));
}

}  // namespace isthmus::face::inter_forms
