// Windows of several processes over engines joined by a network that delays, reorders and repeats
// frames, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "rma/window.hpp"

namespace isthmus::rma {

inline constexpr std::uint64_t kContext = 6;
inline constexpr std::size_t kSize = 300'000;

struct Process {
  Process(int rank, const std::vector<core::NodeId>& nodes)
      : engine(nodes[static_cast<std::size_t>(rank)], {.window = 20'000, .piece = 1000}),
        memory(kSize),
        window(engine, {kContext, rank, nodes}, Memory::fixed(memory.data(), kSize)) {}
  core::Engine engine;
  std::vector<std::byte> memory;
  Window window;
};

/// `P` has an engine and a window, and is made of a rank and the nodes of all.
template <class P>
class WindowTestOf : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  WindowTestOf() {
    std::vector<core::NodeId> nodes;
    for (int i = 0; i < kRanks; ++i) nodes.push_back(static_cast<core::NodeId>(10 + i));
    for (int i = 0; i < kRanks; ++i) processes.push_back(std::make_unique<P>(i, nodes));
  }
  P& at(int rank) { return *processes[static_cast<std::size_t>(rank)]; }
  Window& window(int rank) { return at(rank).window; }

  void collect(P& process) {
    core::OutFrame out;
    while (process.engine.next_frame(out)) {
      if (out.destination == out.source) {
        ASSERT_TRUE(process.engine.loop_back(out));
        continue;
      }
      Frame frame{out, {out.head.begin(), out.head.begin() + static_cast<int>(out.head_size)}};
      frame.body.insert(frame.body.end(), out.payload.begin(), out.payload.end());
      (holds && holds(out) ? held : frames).push_back(std::move(frame));
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
    P& to = at(static_cast<int>(frame.out.destination) - 10);
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
  // Large messages are read from the sender's memory from now on.
  void lend() {
    const auto read = [](std::uint64_t address, std::span<std::byte> to) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): all are in this process
      std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
      return true;
    };
    for (auto& process : processes) {
      for (int rank = 0; rank < kRanks; ++rank) {
        process->engine.read_from(static_cast<core::NodeId>(10 + rank), read);
        process->engine.lend_to(static_cast<core::NodeId>(10 + rank), 10'000);
      }
    }
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
  std::vector<std::unique_ptr<P>> processes;
  std::vector<Frame> frames;
  std::function<bool(const core::OutFrame&)> holds;  // these frames stay in `held` for now
  std::vector<Frame> held;
  std::size_t arrived_at[kRanks] = {};
  std::mt19937 random{1};
  bool repeats = false;
};

using WindowTest = WindowTestOf<Process>;

inline const Combination kSum{Op::Sum, plain(Number::I64)};
inline std::span<const std::byte> number_bytes(const std::int64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<std::byte> number_room(std::int64_t& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace isthmus::rma
