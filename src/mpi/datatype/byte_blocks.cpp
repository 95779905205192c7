#include "mpi/datatype/byte_blocks.hpp"

#include <cstring>
#include <limits>
#include <numeric>
#include <string>

namespace isthmus::face {
namespace {

constexpr std::size_t kMaxCount = std::numeric_limits<int>::max();

std::size_t sum(std::span<const std::size_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// Whether all places fit in ints, although maybe not all sizes.
bool places_fit(std::span<const std::size_t> sizes, std::size_t longest) {
  return longest == kAnyLength || sum(sizes) <= kMaxCount;
}

/// The blocks in their places, the long ones empty.
ByteBlocks in_place(std::span<const std::size_t> sizes, std::size_t longest) {
  ByteBlocks blocks(sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > longest) blocks.counts[i] = 0;
  }
  return blocks;
}

/// The sizes, the long ones 0.
std::vector<std::size_t> without_long(std::span<const std::size_t> sizes, std::size_t longest) {
  std::vector<std::size_t> kept(sizes.begin(), sizes.end());
  for (std::size_t& size : kept) size = size > longest ? 0 : size;
  return kept;
}

}  // namespace

ByteBlocks::ByteBlocks(std::span<const std::size_t> sizes, bool want_large) {
  const std::size_t all = sum(sizes);
  if (all > kMaxCount || want_large) {
#if ISTHMUS_LARGE_COUNT
    large = true;
    MPI_Aint place = 0;
    for (const std::size_t size : sizes) {
      large_counts.push_back(static_cast<MPI_Count>(size));
      large_places.push_back(place);
      place += static_cast<MPI_Aint>(size);
    }
    return;
#else
    throw MpiError(MPI_ERR_COUNT,
                   "a cluster's part of the data is " + std::to_string(all) +
                       " bytes; the native MPI library has no functions for more than "
                       "2147483647: use smaller pieces");
#endif
  }
  int place = 0;
  for (const std::size_t size : sizes) {
    counts.push_back(static_cast<int>(size));
    places.push_back(place);
    place += static_cast<int>(size);
  }
}

SentBlocks::SentBlocks(coll::ConstBytes all, std::span<const std::size_t> sizes,
                       std::size_t longest)
    : memory(all.data()) {
  if (places_fit(sizes, longest)) {
    blocks = in_place(sizes, longest);
    return;
  }
  const std::vector<std::size_t> kept = without_long(sizes, longest);
  blocks = ByteBlocks(kept);
  together_ = core::KeptBlock(sum(kept));
  memory = together_.get();
  std::size_t from = 0, to = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (kept[i] > 0) std::memcpy(together_.get() + to, all.data() + from, kept[i]);
    from += sizes[i];
    to += kept[i];
  }
}

ReceivedBlocks::ReceivedBlocks(coll::Bytes all, std::span<const std::size_t> sizes,
                               std::size_t longest)
    : memory(all.data()) {
  if (places_fit(sizes, longest)) {
    blocks = in_place(sizes, longest);
    return;
  }
  const std::vector<std::size_t> kept = without_long(sizes, longest);
  blocks = ByteBlocks(kept);
  together_ = core::KeptBlock(sum(kept));
  memory = together_.get();
  std::size_t from = 0, to = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (kept[i] > 0) arrivals_.push_back({from, all.subspan(to, kept[i])});
    from += kept[i];
    to += sizes[i];
  }
}

void ReceivedBlocks::store() const {
  for (const Arrival& block : arrivals_) {
    std::memcpy(block.to.data(), together_.get() + block.from, block.to.size());
  }
}

}  // namespace isthmus::face
