#include "core/agreement/rank_set.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace isthmus::core {
namespace {

constexpr int kBits = 64;

std::size_t word_of(int rank) { return static_cast<std::size_t>(rank / kBits); }
std::uint64_t bit_of(int rank) { return std::uint64_t{1} << (rank % kBits); }

}  // namespace

RankSet::RankSet(int size) : size_(size), words_(word_of(size + kBits - 1)) {}

RankSet RankSet::all(int size) {
  RankSet set(size);
  std::fill(set.words_.begin(), set.words_.end(), ~std::uint64_t{0});
  if (size % kBits != 0) set.words_.back() = bit_of(size) - 1;
  return set;
}

bool RankSet::has(int rank) const { return (words_[word_of(rank)] & bit_of(rank)) != 0; }

bool RankSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

void RankSet::add(int rank) { words_[word_of(rank)] |= bit_of(rank); }

bool RankSet::unite(const RankSet& other) {
  bool grown = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    grown = grown || (other.words_[i] & ~words_[i]) != 0;
    words_[i] |= other.words_[i];
  }
  return grown;
}

void RankSet::intersect(const RankSet& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

bool RankSet::within(const RankSet& other) const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & ~other.words_[i]) != 0) return false;
  }
  return true;
}

int RankSet::first_missing() const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (~words_[i] == 0) continue;
    return std::min(size_, static_cast<int>(i) * kBits + std::countr_one(words_[i]));
  }
  return size_;
}

std::vector<int> RankSet::ranks() const {
  std::vector<int> found;
  for (int rank = 0; rank < size_; ++rank) {
    if (has(rank)) found.push_back(rank);
  }
  return found;
}

void write_ranks(Writer& out, const RankSet& ranks) {
  struct Run {
    int first, last;
  };
  std::vector<Run> runs;
  for (const int rank : ranks.ranks()) {
    if (!runs.empty() && runs.back().last + 1 == rank) {
      runs.back().last = rank;
    } else {
      runs.push_back({rank, rank});
    }
  }
  out.u32(static_cast<std::uint32_t>(runs.size()));
  for (const Run& run : runs) {
    out.u32(static_cast<std::uint32_t>(run.first));
    out.u32(static_cast<std::uint32_t>(run.last));
  }
}

std::optional<RankSet> read_ranks(Reader& in, int size) {
  RankSet found(size);
  const auto end = static_cast<std::uint32_t>(size);
  std::uint32_t next = 0;  // runs ascend and do not overlap
  for (std::uint32_t runs = in.u32(); runs > 0; --runs) {
    const std::uint32_t first = in.u32();
    const std::uint32_t last = in.u32();
    if (!in.good() || first < next || last < first || last >= end) return std::nullopt;
    for (std::uint32_t rank = first; rank <= last; ++rank) found.add(static_cast<int>(rank));
    next = last + 1;
  }
  return in.good() ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace isthmus::core
