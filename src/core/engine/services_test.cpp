// Served contexts, over a network that reorders and repeats frames, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/engine/engine.hpp"

namespace isthmus::core {
namespace {

constexpr std::uint64_t kContext = kServiceContext | 6;

std::vector<std::byte> bytes_of(std::size_t size, std::size_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed * 37 + i * 5);
  return bytes;
}

struct Recorder final : Service {
  struct Taken {
    NodeId from;
    int tag;
    std::vector<std::byte> bytes;
  };
  bool take(NodeId from, const Envelope& envelope, std::span<const std::byte> bytes) override {
    taken.push_back({from, envelope.tag, {bytes.begin(), bytes.end()}});
    if (answers != nullptr) {
      answers->post(from, {.context = 8, .source = 0, .tag = envelope.tag},
                    {bytes.begin(), bytes.end()});
    }
    return good;
  }
  std::vector<Taken> taken;
  Engine* answers = nullptr;
  bool good = true;
};

// Engines 0 and 1, and frames on the way between them.
class ServicesTest : public testing::Test {
 protected:
  void collect(std::size_t from) {
    OutFrame out;
    while (engines[from].next_frame(out)) {
      if (out.destination == out.source) {
        EXPECT_TRUE(engines[from].loop_back(out));
        continue;
      }
      Frame frame{out, {out.head.begin(), out.head.begin() + static_cast<int>(out.head_size)}};
      frame.body.insert(frame.body.end(), out.payload.begin(), out.payload.end());
      frames.push_back(std::move(frame));
    }
  }
  // Runs until nothing moves. False: a frame was refused.
  bool run() {
    bool good = true;
    for (;;) {
      for (std::size_t i = 0; i < 2; ++i) collect(i);
      if (frames.empty()) return good;
      std::shuffle(frames.begin(), frames.end(), random);
      const Frame frame = std::move(frames.back());
      frames.pop_back();
      InFrame in{frame.out.kind, frame.out.source, frame.out.destination, frame.body};
      if (repeats) in.flags = kRepeated;
      Engine& to = engines[frame.out.destination];
      good = to.deliver(in) && good;
      if (repeats) good = to.deliver(in) && good;
    }
  }
  void send(std::size_t size, int tag, std::size_t from = 1, NodeId to = 0) {
    engines[from].post(to, {.context = kContext, .source = 5, .tag = tag},
                       bytes_of(size, static_cast<std::size_t>(tag)));
  }
  static void expect_taken(const Recorder& by, const std::vector<std::size_t>& sizes) {
    ASSERT_EQ(by.taken.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(by.taken[i].tag, static_cast<int>(i));
      EXPECT_EQ(by.taken[i].bytes, bytes_of(sizes[i], i));
    }
  }

  struct Frame {
    OutFrame out;
    std::vector<std::byte> body;
  };
  static constexpr Limits kLimits{.window = 2000, .piece = 128};
  Engine engines[2] = {Engine{0, kLimits}, Engine{1, kLimits}};
  std::vector<Frame> frames;
  std::mt19937 random{7};
  bool repeats = false;
  Recorder recorder;
};

TEST_F(ServicesTest, MessagesComeWholeAndInOrder) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    random.seed(seed);
    repeats = seed % 2 == 1;
    Recorder own;
    std::vector<std::size_t> sizes;
    engines[0].serve(kContext, own);
    for (int i = 0; i < 30; ++i) {
      sizes.push_back(random() % 3 == 0 ? random() % 5000 : random() % 100);
      send(sizes.back(), i);
    }
    EXPECT_TRUE(run());
    expect_taken(own, sizes);
    engines[0].end_service(kContext);
    EXPECT_EQ(engines[0].outstanding() + engines[1].outstanding(), 0U) << seed;
    EXPECT_EQ(engines[0].buffered_bytes(), 0U);
  }
}

TEST_F(ServicesTest, WhatCameBeforeTheServiceGoesToIt) {
  const std::vector<std::size_t> sizes{10, 4000, 0, 300};
  for (std::size_t i = 0; i < sizes.size(); ++i) send(sizes[i], static_cast<int>(i));
  EXPECT_TRUE(run());
  EXPECT_TRUE(recorder.taken.empty());
  EXPECT_LE(engines[0].buffered_bytes(), kLimits.window);
  engines[0].serve(kContext, recorder);
  EXPECT_TRUE(run());
  expect_taken(recorder, sizes);
}

TEST_F(ServicesTest, OneContextHasOneService) {
  engines[0].serve(kContext, recorder);
  EXPECT_THROW(engines[0].serve(kContext, recorder), std::logic_error);
  EXPECT_THROW(engines[0].serve(6, recorder), std::logic_error);
}

TEST_F(ServicesTest, AGuestReachesTheServicesOfContextsThatAreDrawn) {
  constexpr std::uint64_t kDrawn = kContext | std::uint64_t{1} << 57;
  engines[0].set_window(1, 1, kLimits.window);
  engines[0].serve(kDrawn, recorder);
  const std::vector<std::size_t> sizes{10, 4000};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    engines[1].post(0, {.context = kDrawn, .source = 5, .tag = static_cast<int>(i)},
                    bytes_of(sizes[i], i));
  }
  EXPECT_TRUE(run());
  expect_taken(recorder, sizes);
}

TEST_F(ServicesTest, AGuestReachesNoOtherService) {
  engines[0].set_window(1, 1, kLimits.window);
  engines[0].serve(kContext, recorder);
  send(10, 0);
  EXPECT_TRUE(run());
  EXPECT_TRUE(recorder.taken.empty());
  EXPECT_EQ(engines[0].buffered_bytes(), 0U);
}

TEST_F(ServicesTest, AnswersReachReceives) {
  recorder.answers = &engines[0];
  engines[0].serve(kContext, recorder);
  const auto sent = bytes_of(3000, 4);
  std::vector<std::byte> got(sent.size());
  RecvOp op;
  op.context = 8;
  op.tag = 4;
  op.buffer = got.data();
  op.capacity = got.size();
  engines[1].recv(op);
  send(sent.size(), 4);
  EXPECT_TRUE(run());
  EXPECT_TRUE(op.done());
  EXPECT_EQ(got, sent);
}

TEST_F(ServicesTest, AProcessServesItself) {
  recorder.answers = &engines[0];
  engines[0].serve(kContext, recorder);
  std::vector<std::byte> got(3000);
  RecvOp op;
  op.context = 8;
  op.buffer = got.data();
  op.capacity = got.size();
  engines[0].recv(op);
  send(got.size(), 0, 0, 0);
  EXPECT_TRUE(run());
  expect_taken(recorder, {got.size()});
  EXPECT_TRUE(op.done());
  EXPECT_EQ(got, bytes_of(got.size(), 0));
}

TEST_F(ServicesTest, LongerMessagesThanAnyBreakTheProtocol) {
  engines[0].serve(kContext, recorder);
  send(kMostServiceBytes, 0);
  EXPECT_TRUE(run());
  send(kMostServiceBytes + 1, 1);
  EXPECT_FALSE(run());
  EXPECT_EQ(recorder.taken.size(), 1U);
}

TEST_F(ServicesTest, WhatAServiceRefusesBreaksTheProtocol) {
  recorder.good = false;
  engines[0].serve(kContext, recorder);
  send(4, 0);
  EXPECT_FALSE(run());
}

TEST_F(ServicesTest, AServiceThatEndsLeavesNothing) {
  send(100, 0);
  send(5000, 1);
  EXPECT_TRUE(run());
  engines[0].end_service(kContext);
  engines[0].serve(kContext, recorder);
  engines[0].end_service(kContext);
  EXPECT_TRUE(run());
  EXPECT_TRUE(recorder.taken.empty());
  EXPECT_EQ(engines[0].buffered_bytes(), 0U);
}

// Begins again until it has counted enough, and then is gone with its operation.
struct Chain final : Completion {
  explicit Chain(Engine& engine_) : engine(engine_) { op.then = this; }
  void over(Op& done) override {
    EXPECT_TRUE(done.done());
    if (++count < 50) begin();
  }
  void begin() {
    op.context = 8;
    engine.recv(op);
  }
  Engine& engine;
  RecvOp op;
  int count = 0;
};

TEST_F(ServicesTest, CompletionsMayBeginAnew) {
  Chain chain(engines[0]);
  chain.begin();
  for (int i = 0; i < 60; ++i) {
    engines[1].post(0, {.context = 8, .source = 5, .tag = i}, bytes_of(i % 7 == 0 ? 900 : 0, 0));
  }
  EXPECT_TRUE(run());
  EXPECT_EQ(chain.count, 50);
}

}  // namespace
}  // namespace isthmus::core
