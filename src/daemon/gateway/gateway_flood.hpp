// Load on all ways of a grid at once. For tests.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {

inline constexpr std::size_t kFlood = 3'000'000;

/// The bytes of a rank, for at most 64 ranks. Made once, because that is slow with a sanitizer.
inline std::span<const std::byte> flood_bytes(int rank) {
  static const std::vector<std::byte> all = [] {
    std::vector<std::byte> bytes(kFlood + 64);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    }
    return bytes;
  }();
  return std::span(all).subspan(static_cast<std::size_t>(rank), kFlood);
}

/// Every process sends this many messages to every other at once, in both directions. Four are far
/// more than all buffers hold. Every byte is checked.
inline void flood(Testbed& bed, int messages = 4) {
  std::vector<std::future<void>> ranks;
  for (int me = 0; me < bed.world().size(); ++me) {
    ranks.push_back(std::async(std::launch::async, [&bed, me, messages] {
      std::vector<std::unique_ptr<core::SendOp>> sends;
      std::vector<std::unique_ptr<core::RecvOp>> recvs;
      std::vector<std::vector<std::byte>> buffers;
      const auto data = flood_bytes(me);
      for (int other = 0; other < bed.world().size(); ++other) {
        if (other == me) continue;
        for (int i = 0; i < messages; ++i) {
          auto send = std::make_unique<core::SendOp>();
          send->peer = static_cast<core::NodeId>(other);
          send->envelope = {1, me, i, kFlood};
          send->data = data;
          bed.rank(me).send(*send);
          sends.push_back(std::move(send));
          buffers.emplace_back(kFlood);
          auto recv = std::make_unique<core::RecvOp>();
          recv->context = 1;
          recv->source = other;
          recv->tag = i;
          recv->buffer = buffers.back().data();
          recv->capacity = kFlood;
          bed.rank(me).recv(*recv);
          recvs.push_back(std::move(recv));
        }
      }
      for (auto& send : sends) bed.wait(me, *send);
      for (std::size_t i = 0; i < recvs.size(); ++i) {
        bed.wait(me, *recvs[i]);
        const auto sent = flood_bytes(recvs[i]->envelope.source);
        ASSERT_EQ(std::memcmp(buffers[i].data(), sent.data(), kFlood), 0);
      }
    }));
  }
  for (auto& rank : ranks) rank.get();
}

}  // namespace isthmus::daemon
