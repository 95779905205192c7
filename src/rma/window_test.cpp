// Requests of an origin, and their effect at its target.
#include "rma/window_testbed.hpp"

namespace isthmus::rma {
namespace {

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
  window(0).accumulate({.rank = 1}, kSum, number_bytes(one), nullptr, nullptr);
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
            {.rank = 2, .displacement = 8}, kSum, number_bytes(one),
            number_room(
                before[static_cast<std::size_t>(rank) * kEach + static_cast<std::size_t>(i)]),
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
    window(0).accumulate({.rank = 1}, {Op::Replace, plain(Number::I64)}, number_bytes(start),
                         nullptr, nullptr);
    window(0).accumulate({.rank = 1}, kSum, std::as_bytes(std::span(large)), kept, ticket);
    window(0).accumulate({.rank = 1, .displacement = 24'999 * 8}, {Op::Max, plain(Number::I64)},
                         number_bytes(start), nullptr, nullptr);
    window(0).accumulate({.rank = 1, .displacement = 8}, kSum, std::as_bytes(std::span(large)),
                         nullptr, nullptr);
    window(0).accumulate({.rank = 1, .displacement = 16}, {Op::Replace, plain(Number::I64)},
                         number_bytes(last), nullptr, nullptr);
    EXPECT_GT(*ticket, 0);
    EXPECT_GT(kept.use_count(), 1);
    for (int i = 0; i < 100; ++i) step();
    window(1).post(0);  // not data
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
    window(0).accumulate({.rank = rank}, kSum, number_bytes(one), nullptr, nullptr);
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
  window(0).put({.rank = 1}, number_bytes(one), nullptr, nullptr);
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
    window(0).fetch({.rank = other}, kSum, number_bytes(one), number_room(before), nullptr);
    EXPECT_FALSE(window(0).settled());
    flush(0, 3 - other);
    EXPECT_FALSE(settle());
    flush(0, other);
    EXPECT_TRUE(settle());
  }
  window(0).lock(1, LockType::Exclusive);
  EXPECT_FALSE(window(0).settled());
  window(0).put({.rank = 1, .displacement = kSize}, number_bytes(one), nullptr, nullptr);
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
  window(1).compare_and_swap({.rank = 0, .displacement = 80}, number_bytes(none),
                             number_bytes(mine), number_room(first), nullptr);
  flush(1, 0);
  window(2).compare_and_swap({.rank = 0, .displacement = 80}, number_bytes(none),
                             number_bytes(yours), number_room(second), nullptr);
  flush(2, 0);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 5);
  EXPECT_EQ(number_at(0, 80), 5);
}

TEST_F(WindowTest, MemoryThatIsNotInTheWindowIsToldAndNotTouched) {
  std::int64_t value = 7;
  window(0).put({.rank = 1, .displacement = kSize - 4}, number_bytes(value), nullptr, nullptr);
  window(0).get({.rank = 1, .displacement = -8}, number_room(value), nullptr);
  const auto large = some_bytes(kSize);
  window(0).put({.rank = 1, .displacement = 1}, large, nullptr, nullptr);
  flush(0, 1);
  EXPECT_TRUE(window(0).take_failure(1));
  EXPECT_FALSE(window(0).take_failure(1));
  EXPECT_EQ(at(1).memory, std::vector<std::byte>(kSize));
  window(0).put({.rank = 1}, number_bytes(value), nullptr, nullptr);
  flush(0, 1);
  EXPECT_FALSE(window(0).take_failure(1));
}

TEST_F(WindowTest, FewAnswersAreCopiedAtATime) {
  core::TypeMapBuilder builder;
  builder.add(core::TypeMap::basic(1, 1, 1), 1, 0, 140'000, 2);
  const core::TypeMap map = std::move(builder).build();
  const Place place{.rank = 1, .map = &map, .count = 1};
  std::vector<std::byte> got(140'000);
  constexpr int kGets = 380;  // their records are less than the engine sends without a grant
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
  window(1).accumulate({.rank = 0}, kSum, number_bytes(one), nullptr, nullptr);
  const std::uint64_t second = window(1).unlock(0);
  run();
  window(0).accumulate({.rank = 1}, kSum, number_bytes(one), nullptr, nullptr);
  const std::uint64_t first = window(0).unlock(1);
  run();
  EXPECT_TRUE(window(0).done(1, first));
  EXPECT_FALSE(window(1).done(0, second));
  window(0).unlock(0);
  run();
  EXPECT_TRUE(window(1).done(0, second));
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
