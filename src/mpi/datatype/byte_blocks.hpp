// The blocks of a local collective in the native library's form: counts and displacements in bytes,
// which are ints if the library has no large counts.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coll/engine/party.hpp"
#include "core/base/kept_memory.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Blocks that lie one after the other. They stay until the operation is done.
struct ByteBlocks {
  ByteBlocks() = default;
  /// Throws MpiError if they exceed the library's types.
  explicit ByteBlocks(std::span<const std::size_t> sizes, bool want_large = false);
  bool large = false;  ///< use the large-count function and arrays
  std::vector<int> counts, places;
#if ISTHMUS_LARGE_COUNT
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_places;
#endif
};

/// Every block is handed to the native library.
constexpr std::size_t kAnyLength = SIZE_MAX;

/// The blocks that a local collective sends. Blocks of more than `longest` bytes are left out:
/// their counts are 0. If the places of the others do not fit in ints, they are copied together.
struct SentBlocks {
  SentBlocks() = default;
  SentBlocks(coll::ConstBytes all, std::span<const std::size_t> sizes, std::size_t longest);
  ByteBlocks blocks;
  const std::byte* memory = nullptr;  ///< the origin of the places

 private:
  core::KeptBlock together_;
};

/// The blocks that a local collective receives, in the same form.
struct ReceivedBlocks {
  ReceivedBlocks() = default;
  ReceivedBlocks(coll::Bytes all, std::span<const std::size_t> sizes, std::size_t longest);
  ByteBlocks blocks;
  std::byte* memory = nullptr;
  /// All have come: puts those that came together into their places.
  void store() const;

 private:
  struct Arrival {
    std::size_t from;  // in together_
    coll::Bytes to;
  };
  core::KeptBlock together_;
  std::vector<Arrival> arrivals_;
};

}  // namespace isthmus::face
