// One cluster's blocks of a buffer that holds a block for every rank, as one run of bytes. It is in
// place if the cluster's ranks are adjacent, else a copy.
#pragma once

#include "coll/engine/buffer.hpp"
#include "coll/engine/collectives.hpp"

namespace isthmus::coll {

/// offsets[r] is the beginning of block r; one more at the end, the total.
Sizes offsets_of(std::span<const std::size_t> sizes);
/// The sizes of a cluster's members, by local index.
Sizes sizes_in(const Layout& layout, int cluster, std::span<const std::size_t> sizes);
std::size_t total(std::span<const std::size_t> sizes);

/// Blocks to be read. `offsets` and `all` must outlive it.
class SourcePortion {
 public:
  SourcePortion(const Layout& layout, int cluster, ConstBytes all, const Sizes& offsets);
  ConstBytes bytes() const { return bytes_; }

 private:
  Buffer copy_;
  ConstBytes bytes_;
};

/// Blocks to be written: fill bytes(), then store() puts them in their places.
class TargetPortion {
 public:
  TargetPortion(const Layout& layout, int cluster, Bytes all, const Sizes& offsets);
  Bytes bytes() { return bytes_; }
  void store();

 private:
  const Layout& layout_;
  const Sizes& offsets_;
  int cluster_;
  Bytes all_;
  Buffer copy_;
  Bytes bytes_;
  bool in_place_;
};

}  // namespace isthmus::coll
