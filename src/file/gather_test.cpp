#include "file/gather.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

#include "file/access.hpp"
#include "file/memory_storage.hpp"

namespace isthmus::file {
namespace {

/// Counts its calls.
class Counting final : public MemoryStorage {
 public:
  using MemoryStorage::MemoryStorage;
  void write(std::int64_t offset, std::span<const std::byte> from) override {
    ++writes;
    MemoryStorage::write(offset, from);
  }
  int writes = 0;
};

/// Blocks of `piece` bytes, every `members`th.
View every(std::int64_t piece, std::int64_t members, std::int64_t member) {
  return {member * piece, core::TypeMap::basic(piece, piece).resized(0, members * piece)};
}

struct Member {
  View view;
  std::int64_t position = 0;
  std::vector<std::byte> data;
};

std::vector<Part> parts_of(const std::vector<Member>& members) {
  std::vector<Part> parts;
  for (const Member& m : members) {
    parts.push_back({&m.view, m.position, m.position + std::ssize(m.data)});
  }
  return parts;
}

/// As aggregators do, one after the other.
void gather(const std::vector<Member>& members, int aggregators, Storage& file) {
  Rounds rounds(parts_of(members), aggregators);
  Chunk chunk(rounds.chunk());
  for (auto slices = rounds.next(); !slices.empty(); slices = rounds.next()) {
    for (int a = 0; a < aggregators; ++a) {
      chunk.begin(rounds.chunk_of(a));
      for (const Slice& slice : slices) {
        if (slice.aggregator != a) continue;
        const Member& member = members[static_cast<std::size_t>(slice.member)];
        const auto from = static_cast<std::size_t>(slice.from - member.position);
        const auto length = static_cast<std::size_t>(slice.to - slice.from);
        chunk.add(member.view, slice.from, std::span(member.data).subspan(from, length));
      }
      chunk.write(file);
    }
  }
}

TEST(Gather, RandomPartsAreWrittenAsByTheirMembers) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto of = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    // Each has its own columns of a row, some of them far apart, with unused gaps.
    const std::int64_t count = of(1, 5), width = of(1, 90), gap = of(0, 3) * of(0, 2000);
    const std::int64_t row = count * width + gap;
    std::vector<Member> members;
    for (std::int64_t m = 0; m < count; ++m) {
      const std::int64_t far = of(0, 1) * of(0, 3) * 500'000 / row * row;
      core::TypeMapBuilder builder;
      builder.add(core::TypeMap::basic(1, 1), of(1, width), m * width, of(1, 3), row);
      const core::TypeMap tile = std::move(builder).build().resized(0, 3 * row);
      Member member{{of(0, 1) * row + far, tile}, of(0, 300), {}};
      member.data.resize(static_cast<std::size_t>(of(0, 100) * tile.size() + of(0, 9)));
      for (std::byte& b : member.data) b = static_cast<std::byte>(of(1, 255));
      members.push_back(std::move(member));
    }
    const auto expected = std::make_shared<MemoryBytes>(), found = std::make_shared<MemoryBytes>();
    MemoryStorage reference(expected);
    for (const Member& m : members) write_seen(reference, m.view, m.position, m.data);
    MemoryStorage gathered(found);
    gather(members, static_cast<int>(of(1, 4)), gathered);
    ASSERT_TRUE(found->bytes == expected->bytes);
  }
}

TEST(Gather, PiecesOfAllMembersAreWrittenTogetherAndHolesAreNot) {
  constexpr int kMembers = 4;
  std::vector<Member> members;
  for (int m = 0; m < kMembers - 1; ++m) {  // one has no data
    members.push_back({every(64, kMembers, m), 0, std::vector<std::byte>(64 * 1000, std::byte{7})});
  }
  const auto bytes = std::make_shared<MemoryBytes>();
  bytes->bytes.assign(64 * 1000 * kMembers, std::byte{9});
  Counting file(bytes);
  gather(members, 1, file);
  EXPECT_LE(file.writes, 1010);  // one between each two holes, and at the ends of chunks
  for (std::size_t i = 0; i < bytes->bytes.size(); ++i) {
    ASSERT_EQ(bytes->bytes[i], i / 64 % kMembers == 3 ? std::byte{9} : std::byte{7}) << i;
  }
  members.push_back({every(64, kMembers, 3), 0, std::vector<std::byte>(64 * 1000, std::byte{7})});
  file.writes = 0;
  gather(members, 2, file);
  EXPECT_LE(file.writes, 3);
}

TEST(Gather, WhatManyWriteAtOncePlaceIsTakenInSmallChunks) {
  const View view = every(64, 2, 0);
  const std::vector<Part> parts(1000, Part{&view, 0, 1 << 24});
  Rounds rounds(parts, 3);
  std::int64_t most = 0;
  for (auto slices = rounds.next(); !slices.empty(); slices = rounds.next()) {
    std::int64_t received = 0;
    for (const Slice& slice : slices) {
      if (slice.aggregator == 1) received += slice.to - slice.from;
    }
    most = std::max(most, received);
  }
  EXPECT_LE(most, 64 << 20);
}

TEST(Gather, SmallPiecesThatTouchAreWorthIt) {
  constexpr std::int64_t kMiB = 1 << 20;
  const auto worth = [](std::int64_t piece, std::int64_t apart, std::int64_t bytes) {
    const View a = every(piece, apart, 0), b = every(piece, apart, 1);
    EXPECT_EQ(typical_piece(a), piece);
    const std::vector<Part> parts{{&a, 0, bytes}, {&b, 0, bytes}};
    return worth_gathering(parts, std::vector<std::int64_t>{piece, piece});
  };
  EXPECT_TRUE(worth(64, 2, 8 * kMiB));
  EXPECT_FALSE(worth(64 * 1024, 2, 8 * kMiB));  // large
  EXPECT_FALSE(worth(64, 2, 64 * 1024));        // few
  EXPECT_FALSE(worth(64, 100, 8 * kMiB));       // apart
  EXPECT_EQ(typical_piece({5, core::TypeMap().resized(0, 8)}), 0);
  EXPECT_GE(typical_piece({}), kMiB);  // one run
}

}  // namespace
}  // namespace isthmus::file
