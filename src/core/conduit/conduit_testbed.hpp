// For tests: two conduits over a network in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/conduit/conduit.hpp"

namespace isthmus::core {

using namespace std::chrono_literals;

inline constexpr NodeId kA = kFirstGateway;
inline constexpr NodeId kB = kFirstGateway + 1;

inline ConduitConfig config(NodeId self, NodeId peer) {
  return {.self = self, .peer = peer, .session = 100 + self, .software = "0.test"};
}

inline OutFrame frame(std::uint64_t number, std::span<const std::byte> payload) {
  OutFrame f;
  f.kind = FrameKind::Piece;
  f.source = 1;
  f.destination = 2;
  std::memcpy(f.head.data(), &number, 8);
  f.head_size = 8;
  f.payload = payload;
  return f;
}

// Two conduits and the streams between them, in virtual time. A stream delivers its bytes in
// order, in pieces of any size, each after a delay; a cut loses what is under way.
class Wan {
 public:
  struct Setup {
    int streams = 1;
    double cut = 0;            // chance that a step cuts a stream
    Time delay = 5ms;          // at most
    std::size_t chunk = 3000;  // bytes written at a time, at most
    double slow = 0;           // chance that a frame is kept before it is consumed
    bool custody = false;      // frames are settled a while after they came
    double landing = 0;        // chance that the payload of a frame that is arriving is placed
    // A path with known figures: each chunk takes the whole delay, at most. The part `loss` of them
    // is lost, which holds their stream back for `timeout`.
    double loss = 0;
    Time timeout{};
    Time round_trip{};  // as the conduits know it; zero: unknown
  };

  Wan(std::uint64_t seed, Setup setup, ConduitConfig a, ConduitConfig b)
      : random_(seed), setup_(setup), ends_{End(std::move(a)), End(std::move(b))} {
    for (int i = 0; i < setup.streams; ++i) streams_.emplace_back();
    for (auto& end : ends_) {
      if (setup.custody) end.conduit.keep_custody();
      end.conduit.set_round_trip(setup.round_trip);
    }
  }

  Conduit& conduit(int end) { return ends_[end].conduit; }

  void submit(int end, std::size_t size) {
    const std::uint64_t number = ends_[end].submitted++;
    std::vector<std::byte> payload(size, static_cast<std::byte>(number * 7));
    ends_[end].conduit.submit(frame(number, payload));
  }

  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }

  void step() {
    now_ += Time(below(static_cast<std::size_t>(Time(1ms).count())));
    for (auto& stream : streams_) {
      if (!stream.up) {
        if (now_ >= stream.again) connect(stream);
        continue;
      }
      if (chance(setup_.cut)) {
        cut(stream);
        continue;
      }
      for (int end = 0; end < 2; ++end) {
        write(stream, end);
        read(stream, end);
      }
    }
    for (int end = 0; end < 2; ++end) {
      auto& e = ends_[end];
      while (!e.kept.empty() && chance(0.3)) {
        e.conduit.consume(e.kept.back());
        e.kept.pop_back();
      }
      while (!e.receipts.empty() && chance(0.3)) {
        std::swap(e.receipts[below(e.receipts.size())], e.receipts.back());
        e.conduit.settle(e.receipts.back());
        e.receipts.pop_back();
      }
      for (const auto& stream : streams_) {
        const bool some = stream.up && e.conduit.has_output(stream.id[end]);
        EXPECT_TRUE(!some || e.conduit.has_output());
      }
      const auto deadline = e.conduit.deadline();
      if (deadline && *deadline <= now_) {
        for (StreamId id : e.conduit.tick(now_)) {
          for (auto& stream : streams_) {
            if (stream.up && stream.id[end] == id) cut(stream);
          }
        }
      }
    }
  }

  // Everything submitted has arrived once, and both know.
  bool settled() {
    for (int end = 0; end < 2; ++end) {
      if (!ends_[end].conduit.flushed()) return false;
      if (ends_[end].seen.size() != ends_[1 - end].submitted) return false;
    }
    return true;
  }

  void cut_all() {
    for (auto& stream : streams_) {
      if (stream.up) cut(stream);
    }
  }
  void never_reconnect() { reconnect_ = false; }
  void mute() { mute_ = true; }
  /// Makes everything later take `more` longer.
  void slow_down(Time more) { slower_ = more; }
  void unmute() { mute_ = false; }
  /// Stops both ends for this time.
  void pause(Time time) {
    now_ += time;
    for (auto& end : ends_) EXPECT_TRUE(end.conduit.tick(now_).empty());
  }
  Time now() const { return now_; }
  std::size_t seen(int end) const { return ends_[end].seen.size(); }
  std::size_t placed() const { return placed_; }
  std::uint64_t submitted(int end) const { return ends_[end].submitted; }

 private:
  struct End {
    explicit End(ConduitConfig c) : conduit(std::move(c), Time::zero()) {}
    Conduit conduit;
    std::uint64_t submitted = 0;
    std::set<std::uint64_t> seen;
    std::vector<std::size_t> kept;
    std::vector<std::uint64_t> receipts;
  };
  struct Chunk {
    Time at;
    std::vector<std::byte> bytes;
  };
  struct Stream {
    bool up = false;
    Time again{};
    StreamId id[2]{};
    std::deque<Chunk> wire[2];         // towards end i
    std::vector<std::byte> unread[2];  // arrived at end i, not yet a whole frame
    std::size_t landing[2]{};          // bytes of its payload that end i places
    std::vector<std::byte> unsent[2];  // from end i
  };

  void connect(Stream& stream) {
    if (!reconnect_) return;
    stream.up = true;
    for (int end = 0; end < 2; ++end) {
      stream.id[end] = ends_[end].conduit.stream_up(now_);
      stream.wire[end].clear();
      stream.unread[end].clear();
      stream.landing[end] = 0;
      stream.unsent[end].clear();
    }
  }

  void cut(Stream& stream) {
    stream.up = false;
    stream.again = now_ + Time(below(static_cast<std::size_t>(Time(20ms).count())));
    for (int end = 0; end < 2; ++end) ends_[end].conduit.stream_down(stream.id[end]);
  }

  void write(Stream& stream, int end) {
    auto& unsent = stream.unsent[end];
    if (unsent.empty()) {
      std::vector<PacketPtr> packets;
      ends_[end].conduit.output(stream.id[end], now_, setup_.chunk, packets);
      for (const auto& packet : packets) {
        unsent.insert(unsent.end(), packet->bytes().begin(), packet->bytes().end());
      }
    }
    if (unsent.empty()) return;
    const std::size_t n = std::min(unsent.size(), 1 + below(setup_.chunk));
    auto& wire = stream.wire[1 - end];
    Time at = now_ + slower_ + Time(below(static_cast<std::size_t>(setup_.delay.count())));
    if (setup_.loss > 0) at = now_ + slower_ + setup_.delay;
    if (setup_.loss > 0 && chance(setup_.loss)) at += setup_.timeout;
    if (!wire.empty()) at = std::max(at, wire.back().at);
    wire.push_back({at, {unsent.begin(), unsent.begin() + static_cast<long>(n)}});
    unsent.erase(unsent.begin(), unsent.begin() + static_cast<long>(n));
  }

  void read(Stream& stream, int end) {
    auto& wire = stream.wire[end];
    auto& unread = stream.unread[end];
    if (mute_) wire.clear();
    while (!wire.empty() && wire.front().at <= now_) {
      unread.insert(unread.end(), wire.front().bytes.begin(), wire.front().bytes.end());
      wire.pop_front();
    }
    if (unread.empty()) return;
    auto& e = ends_[end];
    std::vector<std::byte> apart;
    auto& landing = stream.landing[end];
    if (landing > 0) {
      const std::size_t head = kHeaderSize + 8;
      const auto begin = unread.begin() + static_cast<long>(head);
      if (unread.size() < head + landing) return;
      const auto stop = begin + static_cast<long>(std::exchange(landing, 0));
      apart.assign(begin, stop);
      unread.erase(begin, stop);
    }
    const auto result = e.conduit.input(
        stream.id[end], unread, now_,
        [&](const InFrame& in, std::uint16_t hops) {
          EXPECT_EQ(hops, kMaxHops);
          std::uint64_t number = 0;
          EXPECT_GE(in.body.size(), 8U);
          std::memcpy(&number, in.body.data(), 8);
          EXPECT_TRUE(e.seen.insert(number).second) << "frame " << number << " twice";
          const auto payload =
              in.placed > 0 ? std::span<const std::byte>(apart) : in.body.subspan(8);
          EXPECT_TRUE(in.placed == 0 || (in.body.size() == 8 && in.placed == apart.size()));
          for (std::byte b : payload) EXPECT_EQ(b, static_cast<std::byte>(number * 7));
          placed_ += in.placed;
          if (in.receipt.from != kNobody) e.receipts.push_back(in.receipt.sequence);
          if (!chance(setup_.slow)) return true;
          e.kept.push_back(in.body.size() + in.placed);
          return false;
        },
        apart.size());
    EXPECT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
    unread.erase(unread.begin(), unread.begin() + static_cast<long>(result.used));
    const auto frame = e.conduit.arriving(stream.id[end], unread);
    if (frame && frame->body.size() >= 8 && chance(setup_.landing)) {
      EXPECT_EQ(frame->kind, FrameKind::Piece);
      landing = frame->body.size() + frame->placed - 8;
    }
  }

  std::mt19937_64 random_;
  Setup setup_;
  End ends_[2];
  std::vector<Stream> streams_;
  Time now_{};
  bool reconnect_ = true;
  bool mute_ = false;
  Time slower_{};
  std::size_t placed_ = 0;  // bytes, at both ends
};

}  // namespace isthmus::core
