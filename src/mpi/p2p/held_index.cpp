#include "mpi/p2p/held_index.hpp"

#include <array>

namespace isthmus::face {
namespace {

// Empty buckets are kept, for programs that post the same patterns again and again, up to this
// number. Without the limit, a program that counts its tags up would fill the memory.
constexpr std::size_t kMaxEmptyBuckets = 256;

}  // namespace

void HeldIndex::add(HeldEntry& entry) {
  Bucket& bucket = buckets_[entry.pattern];
  if (bucket.entries.empty()) {
    bucket.pattern = entry.pattern;
    ring_.push_back(bucket);
    ++patterns_;
  }
  entry.turn = ++turns_;
  bucket.entries.push_back(entry);
  ++by_source_[entry.pattern.source];
  ++size_;
}

void HeldIndex::erase(HeldEntry& entry) {
  const auto at = buckets_.find(entry.pattern);
  Bucket& bucket = at->second;
  bucket.entries.erase(entry);
  entry.turn = 0;
  --size_;
  const auto number = by_source_.find(entry.pattern.source);
  if (--number->second == 0) by_source_.erase(number);
  if (!bucket.entries.empty()) return;
  ring_.erase(bucket);
  --patterns_;
  if (buckets_.size() > patterns_ + kMaxEmptyBuckets) buckets_.erase(at);
}

HeldEntry* HeldIndex::front(Pattern pattern) const {
  const auto at = buckets_.find(pattern);
  return at == buckets_.end() ? nullptr : at->second.entries.front();
}

HeldEntry* HeldIndex::first_for(int source, int tag) const {
  if (empty()) return nullptr;
  const std::array<HeldEntry*, 4> fronts = {front({source, tag}), front({source, core::kAnyTag}),
                                            front({core::kAnySource, tag}),
                                            front({core::kAnySource, core::kAnyTag})};
  HeldEntry* first = nullptr;
  for (HeldEntry* const entry : fronts) {
    if (entry != nullptr && (first == nullptr || entry->turn < first->turn)) first = entry;
  }
  return first;
}

bool HeldIndex::overlaps(Pattern pattern) const {
  if (empty()) return false;
  if (pattern.tag != core::kAnyTag) return first_for(pattern.source, pattern.tag) != nullptr;
  return by_source_.contains(pattern.source) || by_source_.contains(core::kAnySource);
}

Pattern HeldIndex::next_pattern() {
  Bucket& bucket = ring_.pop_front();
  ring_.push_back(bucket);
  return bucket.pattern;
}

}  // namespace isthmus::face
