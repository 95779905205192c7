// One direction of a link: firewall, loss, damage, queue, shaper, delay with jitter. In virtual
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/chance.hpp"
#include "lab/delay_line.hpp"
#include "lab/drop_tail_queue.hpp"
#include "lab/firewall.hpp"
#include "lab/segments.hpp"
#include "lab/shaper.hpp"
#include "lab/traffic_record.hpp"

namespace isthmus::lab {

struct ChannelSettings {
  Nanos delay = 0;
  Nanos jitter = 0;             ///< most additional delay
  double rate = 0;              ///< bits per second of wire bytes; 0 is no limit
  std::uint64_t queue = 0;      ///< bytes; 0 is no limit
  double loss = 0;              ///< probability, per segment
  double duplicate = 0;         ///< probability, per frame that passes: it is sent twice
  std::uint64_t corrupt = 0;    ///< bytes of frames from one wrong byte to the next; 0: none is
  bool reorder = false;         ///< jitter may let packets overtake
  std::uint32_t overhead = 38;  ///< bytes on the wire per IP packet: Ethernet's framing and gap
  bool up = true;               ///< false: cut
  std::optional<std::vector<std::uint32_t>> open = std::nullopt;  ///< see Firewall

  bool operator==(const ChannelSettings&) const = default;
};

struct ChannelCounters {
  std::uint64_t packets = 0;                    ///< that came in; super-packets count once
  std::uint64_t segments = 0;                   ///< that came in
  std::uint64_t bytes = 0;                      ///< wire bytes of those that were sent
  std::uint64_t delivered = 0;                  ///< segments
  std::uint64_t duplicated = 0, corrupted = 0;  ///< frames
  std::uint64_t dropped_queue = 0, dropped_loss = 0, dropped_cut = 0, dropped_firewall = 0,
                dropped_memory = 0;  ///< segments
  std::uint64_t queue_most = 0;      ///< bytes
};

class Channel {
 public:
  struct Due {
    Packet packet;
    Nanos release = 0;
  };

  Channel(BufferPool& pool, const ChannelSettings& settings, std::uint64_t seed);

  /// A frame arrives. It is copied, as far as it is not dropped; times never go back.
  void accept(std::span<const std::byte> frame, Nanos now);
  /// As above for a frame in a buffer of its own: not copied if it passes whole.
  void accept(BufferPool::Buffer buffer, std::uint32_t size, Nanos now);

  /// The next packet that has arrived at the other end, if any has.
  std::optional<Due> take_due(Nanos now);

  /// The earliest time at which `take_due` is worth calling again. Empty: not before a frame
  /// arrives.
  std::optional<Nanos> deadline() const;

  /// Changes the settings from now on. Packets on their way keep their time of arrival; packets in
  /// the queue are sent at the new rate. A cut loses all that is under way.
  void change(const ChannelSettings& settings, Nanos now);
  const ChannelSettings& settings() const { return settings_; }

  const ChannelCounters& counters() const { return counters_; }
  void reset_counters() { counters_ = {}; }
  /// Packets from the shaper, when their last bit was on the wire; and those dropped before it.
  const TrafficRecord& traffic() const { return traffic_; }
  /// Bytes waiting or being sent.
  std::uint64_t backlog(Nanos now);
  /// Packets between the shaper and the other end.
  std::size_t in_flight() const { return line_.size(); }

 private:
  void accept(std::span<const std::byte> frame, BufferPool::Buffer buffer, Nanos now);
  void admit(std::span<const std::byte> frame, BufferPool::Buffer& buffer, const Segments& segments,
             std::uint32_t first, std::uint32_t n, Nanos now);
  void damage(Packet& packet);
  void push(Packet packet, Nanos now);
  void advance(Nanos now);
  void apply();

  BufferPool& pool_;
  ChannelSettings settings_;
  Firewall firewall_;
  Loss loss_, single_;       // single_: a "loss" is a frame that is sent twice
  std::uint64_t clean_ = 0;  // bytes since the last wrong one
  Jitter jitter_;
  DropTailQueue queue_;
  Shaper shaper_;
  DelayLine line_;
  ChannelCounters counters_;
  TrafficRecord traffic_;
};

}  // namespace isthmus::lab
