// Windows of several processes over engines joined by a network that delays, reorders and repeats
// frames, in virtual time.
#include "rma/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace isthmus::rma {
namespace {

constexpr std::uint64_t kContext = 6;
constexpr std::size_t kSize = 300'000;

struct Process {
  Process(int rank, const std::vector<core::NodeId>& nodes)
      : engine(nodes[static_cast<std::size_t>(rank)], {.window = 20'000, .piece = 1000}),
        memory(kSize),
        window(engine, {kContext, rank, nodes}, Memory::fixed(memory.data(), kSize)) {}
  core::Engine engine;
  std::vector<std::byte> memory;
  Window window;
};

class WindowTest : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  WindowTest() {
    std::vector<core::NodeId> nodes;
    for (int i = 0; i < kRanks; ++i) nodes.push_back(static_cast<core::NodeId>(10 + i));
    for (int i = 0; i < kRanks; ++i) processes.push_back(std::make_unique<Process>(i, nodes));
  }
  Process& at(int rank) { return *processes[static_cast<std::size_t>(rank)]; }
  Window& window(int rank) { return at(rank).window; }

  void collect(Process& process) {
    core::OutFrame out;
    while (process.engine.next_frame(out)) {
      if (out.destination == out.source) {
        ASSERT_TRUE(process.engine.loop_back(out));
        continue;
      }
      Frame frame{out, {out.head.begin(), out.head.begin() + static_cast<int>(out.head_size)}};
      frame.body.insert(frame.body.end(), out.payload.begin(), out.payload.end());
      frames.push_back(std::move(frame));
    }
  }
  bool step() {
    for (auto& process : processes) collect(*process);
    if (frames.empty()) return false;
    std::swap(frames[random() % frames.size()], frames.back());
    const Frame frame = std::move(frames.back());
    frames.pop_back();
    core::InFrame in{frame.out.kind, frame.out.source, frame.out.destination, frame.body};
    if (repeats) in.flags = core::kRepeated;
    Process& to = at(static_cast<int>(frame.out.destination) - 10);
    arrived_at[frame.out.destination - 10] += frame.body.size();
    EXPECT_TRUE(to.engine.deliver(in));
    if (repeats) {
      EXPECT_TRUE(to.engine.deliver(in));
    }
    return true;
  }
  void run() {
    while (step()) {
    }
  }
  void flush(int origin, int target) {
    const std::uint64_t number = window(origin).flush(target);
    run();
    EXPECT_TRUE(window(origin).done(target, number));
  }
  std::vector<std::byte> some_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    return bytes;
  }
  std::int64_t number_at(int rank, std::size_t displacement) {
    std::int64_t value = 0;
    std::memcpy(&value, at(rank).memory.data() + displacement, sizeof value);
    return value;
  }

  struct Frame {
    core::OutFrame out;
    std::vector<std::byte> body;
  };
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<Frame> frames;
  std::size_t arrived_at[kRanks] = {};
  std::mt19937 random{1};
  bool repeats = false;
};

const Combination kSum{Op::Sum, plain(Number::I64)};
std::span<const std::byte> bytes_of(const std::int64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}
std::span<std::byte> room_of(std::int64_t& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

TEST_F(WindowTest, DataOfAllSizesGoesThereAndBack) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{777},
                                 std::size_t{20'000}, std::size_t{70'000}, std::size_t{250'000}}) {
    repeats = size % 2 == 1;
    for (int target = 0; target < kRanks; ++target) {
      const auto sent = some_bytes(size);
      const auto ticket = std::make_shared<std::atomic<int>>(0);
      window(0).put({.rank = target, .displacement = 11}, sent, nullptr, ticket);
      flush(0, target);
      EXPECT_EQ(*ticket, 0);
      EXPECT_TRUE(std::equal(sent.begin(), sent.end(), at(target).memory.begin() + 11));
      std::vector<std::byte> got(size);
      window(0).get({.rank = target, .displacement = 11}, got, nullptr);
      flush(0, target);
      EXPECT_EQ(got, sent);
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(window(rank).quiet());
}

TEST_F(WindowTest, AnOriginHasCaughtUpWhenItKnowsThatAllIsDone) {
  const std::int64_t one = 1;
  EXPECT_TRUE(window(0).caught_up(1));
  window(0).accumulate({.rank = 1}, kSum, bytes_of(one), nullptr, nullptr);
  EXPECT_FALSE(window(0).caught_up(1));
  EXPECT_TRUE(window(0).caught_up(2));
  window(0).send_now(1);
  run();
  EXPECT_EQ(number_at(1, 0), 1);
  EXPECT_FALSE(window(0).caught_up(1)) << "nobody has asked";
  flush(0, 1);
  EXPECT_TRUE(window(0).caught_up(1));
}

TEST_F(WindowTest, DatatypesOfTheTargetTravel) {
  core::TypeMapBuilder builder;
  builder.add(core::TypeMap::basic(8, 8, 8), 1, 0, 4000, 24);
  const core::TypeMap map = std::move(builder).build();
  const auto sent = some_bytes(32'000 * 2);
  const Place place{.rank = 1, .displacement = 16, .map = &map, .count = 2};
  window(0).put(place, sent, nullptr, nullptr);
  flush(0, 1);
  std::vector<std::byte> expected(sent.size());
  core::TypeCursor cursor(map, 2);
  core::pack(cursor, at(1).memory.data() + 16, expected);
  EXPECT_EQ(expected, sent);
  std::vector<std::byte> got(sent.size());
  window(0).get(place, got, nullptr);
  flush(0, 1);
  EXPECT_EQ(got, sent);

  std::vector<std::int64_t> ones(8000, 1), before(8000);
  window(0).fetch(place, kSum, std::as_bytes(std::span(ones)),
                  std::as_writable_bytes(std::span(before)), nullptr);
  flush(0, 1);
  EXPECT_EQ(std::memcmp(before.data(), sent.data(), sent.size()), 0);
  window(0).get(place, got, nullptr);
  flush(0, 1);
  std::int64_t first = 0;
  std::memcpy(&first, got.data(), sizeof first);
  EXPECT_EQ(first, before[0] + 1);
}

TEST_F(WindowTest, SumsAreExactAndFetchesDiffer) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    random.seed(seed);
    repeats = seed % 3 == 0;
    const std::int64_t start = number_at(2, 8);
    constexpr int kEach = 40;
    const std::int64_t one = 1;
    std::vector<std::int64_t> before(kRanks * kEach, -1);
    for (int i = 0; i < kEach; ++i) {
      for (int rank = 0; rank < kRanks; ++rank) {
        window(rank).fetch(
            {.rank = 2, .displacement = 8}, kSum, bytes_of(one),
            room_of(before[static_cast<std::size_t>(rank) * kEach + static_cast<std::size_t>(i)]),
            nullptr);
        if (random() % 4 == 0) window(rank).send_now(2);
      }
      for (std::size_t n = random() % 5; n > 0; --n) step();
    }
    for (int rank = 0; rank < kRanks; ++rank) flush(rank, 2);
    EXPECT_EQ(number_at(2, 8), start + kRanks * kEach);
    std::sort(before.begin(), before.end());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i], start + static_cast<std::int64_t>(i));
    }
  }
}

TEST_F(WindowTest, LargeAccumulatesAreDoneInTheirOrder) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    random.seed(seed);
    repeats = seed % 3 == 0;
    const std::vector<std::int64_t> large(25'000, 3);
    const std::int64_t start = 100 + seed, last = -1;
    const auto ticket = std::make_shared<std::atomic<int>>(0);
    const auto kept = std::make_shared<int>(0);
    window(0).accumulate({.rank = 1}, {Op::Replace, plain(Number::I64)}, bytes_of(start), nullptr,
                         nullptr);
    window(0).accumulate({.rank = 1}, kSum, std::as_bytes(std::span(large)), kept, ticket);
    window(0).accumulate({.rank = 1, .displacement = 24'999 * 8}, {Op::Max, plain(Number::I64)},
                         bytes_of(start), nullptr, nullptr);
    window(0).accumulate({.rank = 1, .displacement = 8}, kSum, std::as_bytes(std::span(large)),
                         nullptr, nullptr);
    window(0).accumulate({.rank = 1, .displacement = 16}, {Op::Replace, plain(Number::I64)},
                         bytes_of(last), nullptr, nullptr);
    EXPECT_GT(*ticket, 0);
    EXPECT_GT(kept.use_count(), 1);
    for (int i = 0; i < 100; ++i) step();
    window(1).post(0);  // is no data
    flush(0, 1);
    EXPECT_EQ(*ticket, 0);
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_EQ(number_at(1, 0), start + 3);
    EXPECT_EQ(number_at(1, 16), last);
    EXPECT_EQ(number_at(1, 24), 6);
    EXPECT_EQ(number_at(1, 24'999 * 8), start + 3);
    at(1).memory.assign(at(1).memory.size(), std::byte{0});
  }
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(window(rank).quiet());
}

TEST_F(WindowTest, LargeAccumulatesReachElementsOfDatatypes) {
  core::TypeMapBuilder builder;
  builder.add(core::TypeMap::basic(8, 8, 8), 1, 0, 4000, 24);
  const core::TypeMap map = std::move(builder).build();
  const auto there = some_bytes(kSize);
  at(1).memory = there;
  std::vector<std::int64_t> added(8000);
  for (std::size_t i = 0; i < added.size(); ++i) added[i] = static_cast<std::int64_t>(i);
  window(0).accumulate({.rank = 1, .displacement = 16, .map = &map, .count = 2}, kSum,
                       std::as_bytes(std::span(added)), nullptr, nullptr);
  flush(0, 1);
  std::vector<std::byte> before(64'000), after(64'000);
  core::TypeCursor first(map, 2), second(map, 2);
  core::pack(first, there.data() + 16, before);
  core::pack(second, at(1).memory.data() + 16, after);
  for (std::size_t i = 0; i < added.size(); ++i) {
    std::uint64_t was = 0, is = 0;
    std::memcpy(&was, before.data() + 8 * i, sizeof was);
    std::memcpy(&is, after.data() + 8 * i, sizeof is);
    ASSERT_EQ(is, was + i);
  }
  EXPECT_EQ(std::memcmp(at(1).memory.data(), there.data(), 16), 0);
}

TEST_F(WindowTest, LargeAccumulatesWaitBehindALockAndBeyondTheWindowDoNothing) {
  const std::vector<std::int64_t> large(36'000, 1);
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  window(2).lock(0, LockType::Exclusive);
  window(2).accumulate({.rank = 0}, kSum, std::as_bytes(std::span(large)), nullptr, nullptr);
  window(2).accumulate({.rank = 0}, kSum, std::as_bytes(std::span(large)), nullptr, nullptr);
  const std::uint64_t second = window(2).unlock(0);
  run();
  EXPECT_EQ(at(0).memory, std::vector<std::byte>(kSize));
  EXPECT_LT(arrived_at[0], std::size_t{400} << 10);
  const std::uint64_t first = window(1).unlock(0);
  run();
  EXPECT_TRUE(window(1).done(0, first));
  EXPECT_TRUE(window(2).done(0, second));
  for (const std::size_t i : {0, 1, 8191, 8192, 35'999}) EXPECT_EQ(number_at(0, 8 * i), 2);

  window(2).accumulate({.rank = 0, .displacement = kSize - 36'000 * 8 + 8}, kSum,
                       std::as_bytes(std::span(large)), nullptr, nullptr);
  flush(2, 0);
  EXPECT_TRUE(window(2).take_failure(0));
  for (const std::size_t i : {0, 2000, 35'999}) EXPECT_EQ(number_at(0, 8 * i), 2);
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(window(rank).quiet());
}

TEST_F(WindowTest, DataThatNobodyAnnouncedBreaksTheProtocol) {
  const core::Envelope records{.context = kContext, .source = 1};
  const core::Envelope data{.context = kContext, .source = 1, .tag = kDataTag};
  const auto announce = [&](Window& to) {
    std::vector<std::byte> bytes;
    RecordWriter(bytes).put(Kind::AccumulateApart).put(Area{.size = 64}).put(kSum);
    return to.take(11, records, bytes);
  };
  const std::vector<std::byte> some(64, std::byte{1});
  EXPECT_FALSE(window(0).take(11, data, some));
  EXPECT_TRUE(announce(window(0)));
  EXPECT_FALSE(window(0).quiet());
  EXPECT_FALSE(window(0).take(11, data, std::span(some).first(12)));  // half an element
  EXPECT_TRUE(window(0).take(11, data, std::span(some).first(40)));
  EXPECT_FALSE(window(0).take(11, data, some));  // more than announced
  std::vector<std::byte> lock, post;
  RecordWriter(lock).put(Kind::Lock).put(std::uint8_t{1});
  RecordWriter(post).put(Kind::Post);
  EXPECT_FALSE(window(0).take(11, records, lock));
  EXPECT_TRUE(window(0).take(11, records, post));
  EXPECT_TRUE(window(0).take(11, data, std::span(some).first(24)));
  EXPECT_TRUE(window(0).quiet());
  EXPECT_FALSE(window(0).take(11, data, std::span(some).first(8)));
  EXPECT_EQ(number_at(0, 56), 0x0101010101010101);
}

TEST_F(WindowTest, WhatIsGatheredGoesWhenAskedFor) {
  const std::int64_t one = 1;
  for (int rank = 1; rank < kRanks; ++rank)
    window(0).accumulate({.rank = rank}, kSum, bytes_of(one), nullptr, nullptr);
  run();
  EXPECT_EQ(number_at(1, 0), 0);
  EXPECT_FALSE(window(0).quiet());
  window(0).send_all();
  run();
  for (int rank = 1; rank < kRanks; ++rank) EXPECT_EQ(number_at(rank, 0), 1);
  EXPECT_TRUE(window(0).quiet());
}

TEST_F(WindowTest, SettledIsOneOfWhomAllIsDoneAndKnown) {
  EXPECT_TRUE(window(0).settled());
  const std::int64_t one = 1;
  std::int64_t before = 0;
  const auto settle = [&] {
    window(0).settle();
    return window(0).settled();
  };
  window(0).put({.rank = 1}, bytes_of(one), nullptr, nullptr);
  EXPECT_FALSE(window(0).settled());
  EXPECT_FALSE(settle()) << "it is gathered";
  window(0).send_now(1);
  run();
  EXPECT_FALSE(settle()) << "nobody has told that it is done";
  const std::uint64_t number = window(0).flush(1);
  EXPECT_FALSE(settle());
  run();
  EXPECT_TRUE(window(0).done(1, number));
  EXPECT_FALSE(window(0).settled()) << "nobody has asked";
  EXPECT_TRUE(settle());
  window(0).flush(1);
  EXPECT_TRUE(window(0).settled()) << "a flush of nothing begins nothing";

  for (const int other : {1, 2}) {  // of any partner
    window(0).fetch({.rank = other}, kSum, bytes_of(one), room_of(before), nullptr);
    EXPECT_FALSE(window(0).settled());
    flush(0, 3 - other);
    EXPECT_FALSE(settle());
    flush(0, other);
    EXPECT_TRUE(settle());
  }
  window(0).lock(1, LockType::Exclusive);
  EXPECT_FALSE(window(0).settled());
  window(0).put({.rank = 1, .displacement = kSize}, bytes_of(one), nullptr, nullptr);
  window(0).unlock(1);
  EXPECT_FALSE(settle());
  run();
  EXPECT_FALSE(settle()) << "a failure is to be told";
  EXPECT_TRUE(window(0).take_failure(1));
  EXPECT_TRUE(settle());
  window(0).start(1);
  EXPECT_FALSE(window(0).settled());
}

TEST_F(WindowTest, CompareAndSwap) {
  const std::int64_t none = 0, mine = 5, yours = 6;
  std::int64_t first = -1, second = -1;
  window(1).compare_and_swap({.rank = 0, .displacement = 80}, bytes_of(none), bytes_of(mine),
                             room_of(first), nullptr);
  flush(1, 0);
  window(2).compare_and_swap({.rank = 0, .displacement = 80}, bytes_of(none), bytes_of(yours),
                             room_of(second), nullptr);
  flush(2, 0);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 5);
  EXPECT_EQ(number_at(0, 80), 5);
}

TEST_F(WindowTest, WhatComesBehindALockWaitsForIt) {
  const std::int64_t one = 1;
  std::int64_t read = -1;
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  EXPECT_TRUE(window(1).granted(0));

  window(2).lock(0, LockType::Exclusive);
  window(2).fetch({.rank = 0}, kSum, bytes_of(one), room_of(read), nullptr);
  const auto large = some_bytes(100'000);
  window(2).put({.rank = 0, .displacement = 8}, large, nullptr, nullptr);
  const std::uint64_t second = window(2).unlock(0);
  run();
  EXPECT_FALSE(window(2).done(0, second));
  EXPECT_FALSE(window(2).granted(0));
  EXPECT_EQ(number_at(0, 0), 0);

  window(1).accumulate({.rank = 0}, kSum, bytes_of(one), nullptr, nullptr);
  const std::uint64_t first = window(1).unlock(0);
  run();
  EXPECT_TRUE(window(1).done(0, first));
  EXPECT_TRUE(window(2).done(0, second));
  EXPECT_EQ(read, 1);
  EXPECT_EQ(number_at(0, 0), 2);
  EXPECT_TRUE(std::equal(large.begin(), large.end(), at(0).memory.begin() + 8));
}

TEST_F(WindowTest, LocksOfAllOnAllGoRound) {
  const std::int64_t one = 1;
  std::vector<std::pair<int, std::uint64_t>> asked;
  for (int i = 0; i < 20; ++i) {
    const int rank = i % kRanks;
    window(rank).lock(0, random() % 2 == 0 ? LockType::Exclusive : LockType::Shared);
    window(rank).accumulate({.rank = 0, .displacement = 16}, kSum, bytes_of(one), nullptr, nullptr);
    asked.emplace_back(rank, window(rank).unlock(0));
  }
  run();
  for (const auto& [rank, number] : asked) EXPECT_TRUE(window(rank).done(0, number));
  EXPECT_EQ(number_at(0, 16), 20);
}

// Two that each hold a shared lock ask for the other's target, where another waits for an exclusive
// lock: behind those they would wait for each other.
TEST_F(WindowTest, WhoHoldsALockPassesThoseWhoWaitForAnExclusiveOne) {
  const std::int64_t one = 1;
  const auto add = [&](int rank, int target) {
    window(rank).accumulate({.rank = target}, kSum, bytes_of(one), nullptr, nullptr);
    window(rank).send_now(target);
  };
  // First both kinds of one that asks for two locks at once, and then of those that ask later.
  for (const LockType first : {LockType::Passing, LockType::Shared}) {
    window(0).lock(0, first);
    window(0).send_now(0);
    run();
    window(1).lock(1, first);
    window(1).send_now(1);
    run();
    window(2).lock(0, LockType::Exclusive);
    add(2, 0);
    window(2).lock(1, LockType::Exclusive);
    add(2, 1);
    run();
    EXPECT_FALSE(window(2).granted(0) || window(2).granted(1));
    window(0).lock(1, LockType::Shared);
    add(0, 1);
    window(1).lock(0, LockType::Shared);
    add(1, 0);
    run();
    EXPECT_TRUE(window(0).granted(1) && window(1).granted(0));
    for (const int rank : {0, 1, 2}) {
      for (const int target : {0, 1}) window(rank).unlock(target);
    }
    run();
  }
  EXPECT_EQ(number_at(0, 0), 4);
  EXPECT_EQ(number_at(1, 0), 4);
}

// The first of two waits behind an exclusive one already when the second is asked for.
TEST_F(WindowTest, TheFirstSharedLockPassesOnceThereIsASecond) {
  window(1).lock(0, LockType::Shared);
  window(1).send_now(0);
  run();
  window(2).lock(0, LockType::Exclusive);
  window(2).send_now(0);
  run();
  window(0).lock(0, LockType::Shared);
  window(0).send_now(0);
  run();
  EXPECT_FALSE(window(0).granted(0));
  window(0).lock(1, LockType::Shared);
  window(0).send_now(1);
  run();
  EXPECT_TRUE(window(0).granted(0) && window(0).granted(1));
  EXPECT_FALSE(window(2).granted(0));
}

TEST_F(WindowTest, MemoryThatIsNotInTheWindowIsToldAndNotTouched) {
  std::int64_t value = 7;
  window(0).put({.rank = 1, .displacement = kSize - 4}, bytes_of(value), nullptr, nullptr);
  window(0).get({.rank = 1, .displacement = -8}, room_of(value), nullptr);
  const auto large = some_bytes(kSize);
  window(0).put({.rank = 1, .displacement = 1}, large, nullptr, nullptr);
  flush(0, 1);
  EXPECT_TRUE(window(0).take_failure(1));
  EXPECT_FALSE(window(0).take_failure(1));
  EXPECT_EQ(at(1).memory, std::vector<std::byte>(kSize));
  window(0).put({.rank = 1}, bytes_of(value), nullptr, nullptr);
  flush(0, 1);
  EXPECT_FALSE(window(0).take_failure(1));
}

TEST_F(WindowTest, NeitherSideKeepsMuchBehindALock) {
  window(1).lock(0, LockType::Exclusive);
  window(1).send_now(0);
  run();
  window(2).lock(0, LockType::Shared);
  const auto some = some_bytes(50'000);
  std::size_t put = 0;
  for (; window(2).has_room(0); put += some.size()) {
    window(2).put({.rank = 0}, some, nullptr, nullptr);
    window(2).put({.rank = 0, .displacement = 50'000}, std::span(some).first(20'000), nullptr,
                  nullptr);
    run();
    ASSERT_LT(put, std::size_t{1} << 30);
  }
  EXPECT_LT(arrived_at[0], std::size_t{1} << 20);
  const std::uint64_t number = window(2).unlock(0);
  window(1).unlock(0);
  run();
  EXPECT_TRUE(window(2).done(0, number));
  EXPECT_TRUE(window(2).quiet());
  EXPECT_TRUE(std::equal(some.begin(), some.end(), at(0).memory.begin()));
}

TEST_F(WindowTest, FewAnswersAreCopiedAtATime) {
  core::TypeMapBuilder builder;
  builder.add(core::TypeMap::basic(1, 1, 1), 1, 0, 140'000, 2);
  const core::TypeMap map = std::move(builder).build();
  const Place place{.rank = 1, .map = &map, .count = 1};
  std::vector<std::byte> got(140'000);
  constexpr int kGets = 380;  // whose records are less than the engine sends unasked
  for (int i = 0; i < kGets; ++i) window(0).get(place, got, nullptr);
  const std::uint64_t number = window(0).flush(1);
  collect(at(0));
  std::size_t requests = 0;
  for (const Frame& frame : frames) requests += frame.body.size();
  EXPECT_GT(requests, std::size_t{kGets} * 20);
  EXPECT_LT(requests, std::size_t{kGets} * 40);
  run();
  EXPECT_TRUE(window(0).done(1, number));
}

TEST_F(WindowTest, AnswersComeToThoseWhoKeepTheAskerWaiting) {
  const std::int64_t one = 1;
  window(0).lock(0, LockType::Exclusive);
  window(0).lock(1, LockType::Exclusive);
  window(0).send_all();
  run();
  window(1).lock(0, LockType::Exclusive);  // waits for 0
  window(1).accumulate({.rank = 0}, kSum, bytes_of(one), nullptr, nullptr);
  const std::uint64_t second = window(1).unlock(0);
  run();
  window(0).accumulate({.rank = 1}, kSum, bytes_of(one), nullptr, nullptr);
  const std::uint64_t first = window(0).unlock(1);
  run();
  EXPECT_TRUE(window(0).done(1, first));
  EXPECT_FALSE(window(1).done(0, second));
  window(0).unlock(0);
  run();
  EXPECT_TRUE(window(1).done(0, second));
}

TEST_F(WindowTest, WhatComesBehindAStartWaitsForThePost) {
  const std::int64_t one = 1;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    window(0).start(1);
    window(0).accumulate({.rank = 1}, kSum, bytes_of(one), nullptr, nullptr);
    window(0).complete(1);
    window(0).post(1);  // is not kept back
    run();
    EXPECT_EQ(number_at(1, 0), epoch - 1);
    EXPECT_FALSE(window(1).has_completed(0));
    EXPECT_FALSE(window(0).all_sent(1));
    window(1).post(0);
    run();
    EXPECT_TRUE(window(0).all_sent(1));
    EXPECT_EQ(number_at(1, 0), epoch);
    EXPECT_TRUE(window(1).has_completed(0));
    window(1).take_complete(0);
  }
  EXPECT_TRUE(window(0).quiet());
}

TEST_F(WindowTest, CompletesComeBehindTheirData) {
  window(1).post(0);
  window(0).start(1);
  const auto large = some_bytes(200'000);
  window(0).put({.rank = 1}, large, nullptr, nullptr);
  window(0).complete(1);
  while (step()) {
    if (!window(1).has_completed(0)) continue;
    EXPECT_TRUE(std::equal(large.begin(), large.end(), at(1).memory.begin()));
  }
  EXPECT_TRUE(window(1).has_completed(0));
  window(1).take_complete(0);
  EXPECT_FALSE(window(1).has_completed(0));
}

TEST_F(WindowTest, NonsenseBreaksTheProtocolOrDoesNothing) {
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = some_bytes(1 + random() % 80);
    if (random() % 2 == 0) bytes[0] = static_cast<std::byte>(1 + random() % 14);
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      if (random() % 3 != 0) bytes[i] = std::byte{0};
    }
    // Data that never comes would be waited for when the test ends.
    std::replace(bytes.begin(), bytes.end(), std::byte{3}, std::byte{0});
    const auto tag = static_cast<std::int32_t>(random() % 2);
    static_cast<void>(window(0).take(11, {.context = kContext, .source = 1, .tag = tag}, bytes));
    core::OutFrame out;
    while (at(0).engine.next_frame(out)) {
    }
  }
  EXPECT_FALSE(window(0).take(11, {.context = kContext, .source = 2}, {}));
  EXPECT_FALSE(window(0).take(11, {.context = kContext, .source = -1}, {}));
  EXPECT_FALSE(window(0).take(11, {.context = kContext, .source = 99}, {}));
}

}  // namespace
}  // namespace isthmus::rma
