#include "coll/engine/commons.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "coll/testing/testing.hpp"

namespace isthmus::coll {
namespace {

constexpr Commons::Codes kCodes{.disagreement = 1, .absence = 2};

/// Counts, and lets a test do something while its rank sleeps.
struct Asleep : Sleep {
  void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
            std::chrono::microseconds) override {
    EXPECT_EQ(word.load(), seen);
    ++waits;
    if (meanwhile) meanwhile();
  }
  void wake(std::atomic<std::uint32_t>&) override { ++wakes; }
  std::function<void()> meanwhile;
  int waits = 0, wakes = 0;
};

class CommonsOfTwo : public testing::Test {
 protected:
  CommonsMemory memory{2};
  Asleep sleep;
  Commons a{memory.bytes(), 2, 0, sleep, kCodes}, b{memory.bytes(), 2, 1, sleep, kCodes};
};

// As documented in docs/architecture.md.
TEST(Commons, ItsMemoryIsBounded) {
  const auto mib = [](int ranks) { return static_cast<double>(Commons::bytes(ranks)) / (1 << 20); };
  for (int ranks = 1; ranks <= 8; ++ranks) EXPECT_LE(mib(ranks), 12.1) << ranks;
  for (int ranks = 9; ranks <= Commons::kMostRanks; ++ranks) EXPECT_LE(mib(ranks), 16.5) << ranks;
}

TEST_F(CommonsOfTwo, APostIsReadAsItWasPut) {
  const Data data = pattern(a.capacity(), 0, 0);
  Pending before = b.posted(0);
  EXPECT_TRUE(before.done());  // not begun yet
  b.post();
  Pending posted = b.posted(0);
  EXPECT_FALSE(posted.done());
  EXPECT_TRUE(a.make_room(data.size()).done());
  a.put(data);
  EXPECT_FALSE(posted.done());
  a.post();
  EXPECT_TRUE(posted.done());
  Data got(data.size());
  b.take(0, got);
  EXPECT_EQ(got, data);
}

TEST_F(CommonsOfTwo, BlocksAreForOneRankEach) {
  const Data for_a = pattern(a.block_capacity(), 0, 0), for_b = pattern(3, 0, 1);
  EXPECT_TRUE(a.make_room_for_blocks(for_a.size()).done());
  a.put_block(0, for_a);
  a.put_block(1, for_b);
  a.post();
  b.post();
  Data at_a(for_a.size()), at_b(for_b.size());
  a.take_block(0, at_a);
  b.take_block(0, at_b);
  EXPECT_EQ(at_a, for_a);
  EXPECT_EQ(at_b, for_b);
}

/// Number of posts of `size` bytes that a rank makes alone; the other reads them all.
int run_ahead(Commons& ahead, Commons& behind, std::size_t size) {
  int rounds = 0;
  while (rounds < 100 && ahead.make_room(size).done()) {
    ahead.put(pattern(size, 0, rounds++));
    ahead.post();
  }
  for (int round = 0; round < rounds; ++round) {
    behind.post();
    Data got(size);
    behind.take(0, got);
    EXPECT_EQ(got, pattern(size, 0, round));
  }
  return rounds;
}

TEST_F(CommonsOfTwo, ManySmallPostsMayBeAhead) { EXPECT_EQ(run_ahead(a, b, 8), 7); }
TEST_F(CommonsOfTwo, FewLargePostsMayBeAhead) { EXPECT_EQ(run_ahead(a, b, a.capacity()), 3); }

TEST_F(CommonsOfTwo, WhoHasNothingToPostMayBeAnyNumberOfRoundsAhead) {
  const Data data = pattern(8, 0, 0);
  EXPECT_TRUE(a.make_room(8).done());
  a.put(data);
  a.post();
  for (int round = 0; round < 100; ++round) a.post();
  EXPECT_FALSE(a.make_room(8).done());
  b.post();
  Data got(8);
  b.take(0, got);
  EXPECT_EQ(got, data);
}

TEST_F(CommonsOfTwo, PostsOfAnySizesFollowEachOther) {
  std::mt19937_64 random(1);
  std::vector<Data> posts;
  std::size_t read = 0;
  while (read < 3000) {
    const std::size_t size = random() % 4 == 0 ? random() % (a.capacity() + 1) : random() % 200;
    if (random() % 2 == 0 && a.make_room(size).done()) {
      posts.push_back(pattern(size, 0, static_cast<int>(posts.size())));
      a.put(posts.back());
      a.post();
    } else if (read < posts.size()) {
      b.post();
      Data got(posts[read].size());
      b.take(0, got);
      ASSERT_EQ(got, posts[read++]);
    }
  }
}

TEST_F(CommonsOfTwo, OnlySleepersAreWoken) {
  b.post();
  Pending posted = b.posted(0);
  EXPECT_FALSE(posted.done());
  a.post();
  EXPECT_EQ(sleep.wakes, 0);
  EXPECT_TRUE(posted.done());
  b.post();
  Pending next = b.posted(0);
  EXPECT_FALSE(next.done());
  sleep.meanwhile = [&] { a.post(); };
  EXPECT_EQ(next.operation()->near(), 0);
  next.operation()->nap(std::chrono::milliseconds(1));
  EXPECT_EQ(sleep.waits, 1);
  EXPECT_EQ(sleep.wakes, 1);
  EXPECT_TRUE(next.done());
  EXPECT_EQ(next.operation()->near(), -1);
  next.operation()->nap(std::chrono::milliseconds(1));  // nobody to wait for
  EXPECT_EQ(sleep.waits, 1);
}

TEST_F(CommonsOfTwo, SizesThatDifferAreAFailure) {
  EXPECT_TRUE(a.make_room(8).done());
  a.put(pattern(8, 0, 0));
  a.post();
  b.post();
  Data nine(9);
  try {
    b.take(0, nine);
    FAIL();
  } catch (const MpiError& failure) {
    EXPECT_EQ(failure.code, kCodes.disagreement);
    EXPECT_STREQ(failure.what(),
                 "the ranks disagree about the size of the data: 9 bytes here, 8 at rank 0");
  }
}

TEST_F(CommonsOfTwo, NothingOutsideOfAPlaceIsReadWhateverAPeerWrites) {
  // The head of a rank has its posts a line behind its beginning: offset, size, spacing, ...
  constexpr std::size_t kPostBytes = 40, kSecond = Commons::kMark + 64 + kPostBytes;
  std::mt19937_64 random(1);
  const std::uint64_t telling[] = {
      0, 1, 8, 63, 64, 1U << 17, ~std::uint64_t{0}, ~std::uint64_t{63}};
  a.post();
  b.post();
  for (int i = 0; i < 5000; ++i) {
    for (std::size_t at = 0; at < 3 * sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random() % 2 == 0 ? telling[random() % 8] : random();
      std::memcpy(memory.bytes().data() + kSecond + at, &word, sizeof word);
    }
    Data data(telling[random() % 6]);
    for (const bool block : {false, true}) {
      try {
        block ? b.take_block(0, data) : b.take(0, data);
      } catch (const MpiError&) {
        continue;  // or it was in the place
      }
    }
  }
}

TEST_F(CommonsOfTwo, SizesOfNonsenseAreAFailure) {
  const Bytes bytes = memory.bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
  Data data(8);
  EXPECT_THROW(b.take(0, data), MpiError);
  EXPECT_THROW(b.take_block(0, data), MpiError);
}

void expect_absence(Commons& reader) {
  Data data(8);
  try {
    reader.take(0, data);
    FAIL();
  } catch (const MpiError& failure) {
    EXPECT_EQ(failure.code, kCodes.absence);
  }
}

TEST_F(CommonsOfTwo, WhoIsInAnotherCollectiveIsNotRead) {
  a.begin(2);
  b.begin(1);
  a.make_room(8);
  a.put(pattern(8, 0, 0));
  a.post();
  b.post();
  expect_absence(b);
}

TEST_F(CommonsOfTwo, AFailureIsToldAndRoundsGoOn) {
  a.make_room(8);
  a.post_failure();
  b.post();
  expect_absence(b);
  a.make_room(8);
  a.put(pattern(8, 0, 1));
  a.post();
  b.post();
  Data data(8);
  b.take(0, data);
  EXPECT_EQ(data, pattern(8, 0, 1));
}

/// The numbers that all ranks add up, in rounds of real threads.
TEST(Commons, ThreadsSeeWhatOthersPosted) {
  constexpr int kRanks = 4, kRounds = 2000;
  CommonsMemory memory(kRanks);
  NoSleep sleep;
  std::vector<int> wrong(kRanks, 0);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      Commons commons(memory.bytes(), kRanks, rank, sleep, kCodes);
      const auto wait = [](Pending pending) {
        while (!pending.done()) std::this_thread::yield();
      };
      for (int round = 0; round < kRounds; ++round) {
        const int mine = round * kRanks + rank;
        wait(commons.make_room(sizeof mine));
        commons.put(std::as_bytes(std::span(&mine, 1)));
        commons.post();
        wait(commons.posted_by_all());
        for (int other = 0; other < kRanks; ++other) {
          int theirs = 0;
          commons.take(other, std::as_writable_bytes(std::span(&theirs, 1)));
          if (theirs != round * kRanks + other) ++wrong[as_index(rank)];
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kRanks, 0));
}

TEST(Commons, RoomForAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= Commons::kMostRanks; ++ranks) {
    CommonsMemory memory(ranks);
    NoSleep sleep;
    Commons last(memory.bytes(), ranks, ranks - 1, sleep, kCodes);
    EXPECT_GE(last.block_capacity() * static_cast<std::size_t>(ranks), last.capacity());
    EXPECT_LE(Commons::bytes(ranks), std::size_t{20} << 20);
    for (int round = 0; round < 4; ++round) {  // the last bytes of all
      EXPECT_EQ(last.make_room_for_blocks(last.block_capacity()).done(), ranks == 1 || round < 3);
      last.put_block(ranks - 1, pattern(last.block_capacity(), ranks - 1, round));
      last.post();
    }
  }
}

}  // namespace
}  // namespace isthmus::coll
