// The blocks of all ranks, cluster by cluster, while an allgather brings them together.
#pragma once

#include "coll/engine/buffer.hpp"
#include "coll/engine/party.hpp"
#include "coll/engine/portion.hpp"

namespace isthmus::coll {

/// All blocks in the clusters' order: in the memory of `all` if that has this order, else in memory
/// of its own. Both arguments that it refers to must outlive it.
class ClusterBlocks {
 public:
  ClusterBlocks(const Layout& layout, Bytes all, const Sizes& sizes);
  /// The blocks of that cluster's members, in rank order.
  Bytes of(int cluster) const;
  Bytes whole() const { return packed_; }
  /// Puts them into `all`, in rank order.
  void store() const;

 private:
  const Layout& layout_;
  Bytes all_;
  Sizes offsets_;  // by rank
  Sizes starts_;   // by cluster
  Buffer copy_;
  Bytes packed_;
};

}  // namespace isthmus::coll
