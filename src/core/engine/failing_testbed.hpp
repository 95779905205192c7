// For tests of peers that fail: engines, the network between them, and operations with memory of
// their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"

namespace isthmus::core {

inline constexpr std::uint64_t kPlainContext = 4;

/// Engines, and a network that keeps the frames of each pair in order.
class PairedEngines {
 public:
  explicit PairedEngines(NodeId nodes, Limits limits = {}) {
    for (NodeId i = 0; i < nodes; ++i) engines.push_back(std::make_unique<Engine>(i, limits));
  }

  /// Takes at most `most` frames of an engine into the network.
  void collect(NodeId from, std::size_t most = SIZE_MAX) {
    OutFrame frame;
    for (; most > 0 && engines[from]->next_frame(frame); --most) {
      std::vector<std::byte> body(frame.head.begin(), frame.head.begin() + frame.head_size);
      body.insert(body.end(), frame.payload.begin(), frame.payload.end());
      ways[{from, frame.destination}].push_back({frame.kind, std::move(body)});
    }
  }
  /// Delivers the first frame of a way. False: it has none.
  bool deliver(NodeId from, NodeId to) {
    auto& way = ways[{from, to}];
    if (way.empty()) return false;
    const auto [kind, body] = std::move(way.front());
    way.pop_front();
    EXPECT_TRUE(engines[to]->deliver({kind, from, to, body}));
    return true;
  }
  /// Until nothing moves.
  void settle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (NodeId from = 0; from < engines.size(); ++from) {
        collect(from);
        for (NodeId to = 0; to < engines.size(); ++to) {
          while (deliver(from, to)) moved = true;
        }
      }
    }
  }

  struct Frame {
    FrameKind kind;
    std::vector<std::byte> body;
  };
  std::vector<std::unique_ptr<Engine>> engines;
  std::map<std::pair<NodeId, NodeId>, std::deque<Frame>> ways;
};

struct PlainSend : SendOp {
  PlainSend(NodeId from, NodeId to, std::size_t size, int tag_ = 0) : bytes(size, std::byte{7}) {
    peer = to;
    envelope.context = kPlainContext;
    envelope.source = static_cast<std::int32_t>(from);
    envelope.tag = tag_;
    data = bytes;
  }
  std::vector<std::byte> bytes;
};

struct PlainReceive : RecvOp {
  PlainReceive(int from_rank, std::size_t size, int tag_ = kAnyTag) : bytes(size) {
    context = kPlainContext;
    source = from_rank;
    tag = tag_;
    buffer = bytes.data();
    capacity = size;
    if (from_rank != kAnySource) from = static_cast<NodeId>(from_rank);
  }
  std::vector<std::byte> bytes;
};

class CountingService final : public Service {
 public:
  bool take(NodeId, const Envelope&, std::span<const std::byte> bytes) override {
    taken.push_back(bytes.size());
    return true;
  }
  void fail(NodeId first, NodeId count) override { failed.emplace_back(first, count); }
  std::vector<std::size_t> taken;
  std::vector<std::pair<NodeId, NodeId>> failed;
};

}  // namespace isthmus::core
