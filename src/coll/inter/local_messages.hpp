// The local phases of collectives by messages. They serve a subset of a cluster's members, since
// the native collectives need all members.
#pragma once

#include <cstddef>
#include <vector>

#include "coll/engine/collectives.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// The members that take part, all in one cluster, and their tag for this phase.
struct Locals {
  Party* party;            ///< carries the messages
  std::vector<int> ranks;  ///< of the party, by local index
  int me;                  ///< local index
  int tag;

  int size() const { return static_cast<int>(ranks.size()); }
  Pending send(int index, ConstBytes data) const {
    return party->send(ranks[static_cast<std::size_t>(index)], tag, data);
  }
  Pending recv(int index, Bytes data) const {
    return party->recv(ranks[static_cast<std::size_t>(index)], tag, data);
  }
};

// As the functions of Party.
Task barrier_of(Locals locals);
Task bcast_of(Locals locals, Bytes data, int root);
Task gather_of(Locals locals, ConstBytes mine, Bytes all, Sizes sizes, int root);
Task scatter_of(Locals locals, ConstBytes all, Sizes sizes, Bytes mine, int root);
Task allgather_of(Locals locals, ConstBytes mine, Bytes all, Sizes sizes);
Task alltoall_of(Locals locals, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes);
Task reduce_of(Locals locals, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
               int root);
Task scan_of(Locals locals, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction);

}  // namespace isthmus::coll
