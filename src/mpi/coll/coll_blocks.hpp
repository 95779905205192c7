// The buffers of collectives: a block for each rank, seen as packed bytes one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "coll/engine/collectives.hpp"
#include "core/base/kept_memory.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// `count` elements of `type` at `address`.
struct Block {
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};

/// `address` moved by bytes; MPI_BOTTOM moved by an address is that address.
const void* moved(const void* address, MPI_Aint bytes);
MPI_Aint extent_of(MPI_Datatype type);

inline std::vector<Block> one_block(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {{buffer, count, type}};
}

/// Blocks of `count` elements each, one after the other.
std::vector<Block> even_blocks(const void* buffer, MPI_Count count, MPI_Datatype type, int ranks);

/// Blocks at displacements in elements (MPI_Gatherv and its like).
template <class Count, class Place>
std::vector<Block> placed_blocks(const void* buffer, const Count* counts, const Place* places,
                                 MPI_Datatype type, int ranks) {
  const MPI_Aint extent = extent_of(type);
  std::vector<Block> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    blocks.push_back({moved(buffer, extent * static_cast<MPI_Aint>(places[r])), counts[r], type});
  }
  return blocks;
}

/// Blocks at displacements in bytes, each with its own datatype (MPI_Alltoallw).
template <class Count, class Place>
std::vector<Block> typed_blocks(const void* buffer, const Count* counts, const Place* places,
                                const MPI_Datatype* types, int ranks) {
  std::vector<Block> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    blocks.push_back({moved(buffer, static_cast<MPI_Aint>(places[r])), counts[r], types[r]});
  }
  return blocks;
}

/// Blocks to be sent, in the communicator's format: in place if they are gapless and adjacent, and
/// in that format already; else packed.
class OutBlocks {
 public:
  OutBlocks() = default;
  OutBlocks(const GridComm& comm, const std::vector<Block>& blocks, Copy copy = Copy::IfNeeded);
  coll::ConstBytes bytes() const { return bytes_; }
  const coll::Sizes& sizes() const { return sizes_; }

 private:
  coll::Sizes sizes_;
  core::KeptBlock owned_;
  coll::ConstBytes bytes_;
};

/// Memory for blocks to be received, in the communicator's format: the program's in place, or a
/// buffer that finish() unpacks. finish() changes the format, too.
class InBlocks {
 public:
  InBlocks() = default;
  /// `outlives_call`: the program may free its datatypes before finish().
  InBlocks(const GridComm& comm, std::vector<Block> blocks, bool outlives_call);
  coll::Bytes bytes() const { return bytes_; }
  const coll::Sizes& sizes() const { return sizes_; }
  void finish();

 private:
  std::vector<Block> blocks_;
  std::vector<KeptType> kept_;
  coll::Sizes sizes_;
  std::vector<SignatureRef> signatures_;  // of each block; empty: they come as they are in memory
  core::KeptBlock owned_;
  coll::Bytes bytes_;
};

}  // namespace isthmus::face
