#include "mpi/process/free_ranges.hpp"

#include <algorithm>
#include <bit>

namespace isthmus::face {
namespace {

// Blocks that a search looks through: the first will do unless most ranges are taken.
constexpr int kRounds = 8;

}  // namespace

FreeRanges::FreeRanges(int number)
    : free_(static_cast<std::size_t>((number + kBlock - 1) / kBlock)) {
  for (int range = 0; range < number; ++range) give_back(range);
}

std::uint64_t FreeRanges::take(int block) {
  return free_[static_cast<std::size_t>(block)].exchange(0);
}

void FreeRanges::give_back(int block, std::uint64_t ranges) {
  free_[static_cast<std::size_t>(block)].fetch_or(ranges);
}

void FreeRanges::take_one(int range) {
  free_[static_cast<std::size_t>(range / kBlock)].fetch_and(~(std::uint64_t{1} << range % kBlock));
}

RangeSearch::RangeSearch(FreeRanges& free, std::uint64_t seed)
    : free_(free), seed_((seed * 0x9E37'79B9'7F4A'7C15ULL) >> 32), offered_(free_.take(block())) {}

RangeSearch::~RangeSearch() {
  if (offered_ != 0) free_.give_back(block(), offered_);
}

int RangeSearch::block() const {
  return static_cast<int>((seed_ + static_cast<std::uint64_t>(round_)) %
                          static_cast<std::uint64_t>(free_.blocks()));
}

bool RangeSearch::settle(std::uint64_t common) {
  if (common != 0) {
    const int bit = std::countr_zero(common);
    found_ = block() * FreeRanges::kBlock + bit;
    offered_ &= ~(std::uint64_t{1} << bit);
    return true;
  }
  free_.give_back(block(), offered_);
  offered_ = 0;
  if (++round_ >= std::min(kRounds, free_.blocks())) return true;
  offered_ = free_.take(block());
  return false;
}

}  // namespace isthmus::face
