#include "mpi/p2p/held_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <random>
#include <vector>

namespace isthmus::face {
namespace {

using core::kAnySource;
using core::kAnyTag;

TEST(HeldIndex, TheReceiveThatWasPostedFirstGetsTheMessage) {
  HeldIndex index;
  HeldEntry any({kAnySource, kAnyTag}), tag({kAnySource, 7}), named({3, 7}), source({3, kAnyTag});
  for (HeldEntry* entry : {&tag, &named, &any, &source}) index.add(*entry);
  EXPECT_EQ(index.first_for(3, 7), &tag);
  EXPECT_EQ(index.first_for(3, 8), &any);
  index.erase(tag);
  EXPECT_EQ(index.first_for(3, 7), &named);
  EXPECT_EQ(index.first_for(4, 7), &any);
  index.erase(any);
  EXPECT_EQ(index.first_for(4, 7), nullptr);
  EXPECT_EQ(index.first_for(3, 8), &source);
  EXPECT_EQ(tag.turn, 0U);
}

TEST(HeldIndex, OverlapsAreOfPatterns) {
  HeldIndex index;
  EXPECT_FALSE(index.overlaps({1, kAnyTag}));
  HeldEntry tag({kAnySource, 7});
  index.add(tag);
  EXPECT_TRUE(index.overlaps({1, 7}));
  EXPECT_TRUE(index.overlaps({1, kAnyTag}));
  EXPECT_FALSE(index.overlaps({1, 8}));
  index.erase(tag);
  HeldEntry named({3, 7});
  index.add(named);
  EXPECT_TRUE(index.overlaps({3, kAnyTag}));
  EXPECT_FALSE(index.overlaps({2, kAnyTag}));
  index.erase(named);
}

TEST(HeldIndex, EachPatternHasItsTurn) {
  HeldIndex index;
  std::vector<std::unique_ptr<HeldEntry>> entries;
  for (int i = 0; i < 12; ++i) {
    entries.push_back(std::make_unique<HeldEntry>(Pattern{kAnySource, i % 4}));
    index.add(*entries.back());
  }
  EXPECT_EQ(index.patterns(), 4U);
  std::vector<int> tags;
  for (int i = 0; i < 4; ++i) tags.push_back(index.next_pattern().tag);
  std::sort(tags.begin(), tags.end());
  EXPECT_EQ(tags, (std::vector{0, 1, 2, 3}));
  for (const auto& entry : entries) index.erase(*entry);
}

/// HeldIndex's contract, implemented by a full search.
struct Reference {
  std::list<HeldEntry*> entries;

  HeldEntry* first_for(int source, int tag) const {
    for (HeldEntry* const e : entries) {
      if ((e->pattern.source == kAnySource || e->pattern.source == source) &&
          (e->pattern.tag == kAnyTag || e->pattern.tag == tag)) {
        return e;
      }
    }
    return nullptr;
  }
  bool overlaps(Pattern p) const {
    return std::any_of(entries.begin(), entries.end(), [&](const HeldEntry* e) {
      return (e->pattern.source == kAnySource || e->pattern.source == p.source) &&
             (e->pattern.tag == kAnyTag || p.tag == kAnyTag || e->pattern.tag == p.tag);
    });
  }
};

TEST(HeldIndex, AgreesWithAListUnderRandomUse) {
  std::mt19937 random(2);
  HeldIndex index;
  Reference reference;
  std::vector<std::unique_ptr<HeldEntry>> owned;
  const auto some = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  for (int step = 0; step < 20'000; ++step) {
    if (reference.entries.size() < 600 && some(0, 9) < (step / 2'000 % 2 == 0 ? 7 : 3)) {
      owned.push_back(std::make_unique<HeldEntry>(Pattern{some(-1, 5), some(-1, 400)}));
      index.add(*owned.back());
      reference.entries.push_back(owned.back().get());
    } else if (!reference.entries.empty()) {
      const auto at = std::next(reference.entries.begin(),
                                some(0, static_cast<int>(reference.entries.size()) - 1));
      index.erase(**at);
      reference.entries.erase(at);
    }
    const int source = some(0, 6);
    const int tag = some(0, 400);
    ASSERT_EQ(index.first_for(source, tag), reference.first_for(source, tag));
    const Pattern pattern{source, some(-1, 400)};
    ASSERT_EQ(index.overlaps(pattern), reference.overlaps(pattern));
    ASSERT_EQ(index.size(), reference.entries.size());
  }
  for (HeldEntry* const entry : reference.entries) index.erase(*entry);
  EXPECT_TRUE(index.empty());
}

}  // namespace
}  // namespace isthmus::face
