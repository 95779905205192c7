#include "lab/channel.hpp"

#include <algorithm>
#include <cstring>

namespace isthmus::lab {

Channel::Channel(BufferPool& pool, const ChannelSettings& settings, std::uint64_t seed)
    : pool_(pool), settings_(settings), loss_(seed), single_(seed + 2), jitter_(seed + 1) {
  apply();
  loss_.set_probability(settings_.loss);
  single_.set_probability(settings_.duplicate);
}

void Channel::apply() {
  firewall_.set_open(settings_.open);
  jitter_.set_most(settings_.jitter);
  queue_.set_limit(settings_.queue);
  shaper_.set_rate(settings_.rate);
}

void Channel::change(const ChannelSettings& settings, Nanos now) {
  advance(now);
  const bool new_loss = settings.loss != settings_.loss;
  const bool new_duplicate = settings.duplicate != settings_.duplicate;
  settings_ = settings;
  apply();
  if (new_loss) loss_.set_probability(settings_.loss);
  if (new_duplicate) single_.set_probability(settings_.duplicate);
  if (settings_.up) return;
  while (!queue_.empty()) counters_.dropped_cut += queue_.pop().packet.segments;
  while (line_.next()) counters_.dropped_cut += line_.pop().packet.segments;
  line_.clear();
  shaper_.stop(now);
}

void Channel::accept(std::span<const std::byte> frame, Nanos now) {
  accept(frame, {nullptr, {}}, now);
}

void Channel::accept(BufferPool::Buffer buffer, std::uint32_t size, Nanos now) {
  const std::span<const std::byte> frame{buffer.get(), size};
  accept(frame, std::move(buffer), now);
}

void Channel::accept(std::span<const std::byte> frame, BufferPool::Buffer buffer, Nanos now) {
  const Segments segments = segments_of(frame);
  ++counters_.packets;
  counters_.segments += segments.count;
  if (!settings_.up) {
    counters_.dropped_cut += segments.count;
    return;
  }
  if (!firewall_.passes(frame)) {
    counters_.dropped_firewall += segments.count;
    return;
  }
  advance(now);
  const std::uint64_t dropped = counters_.dropped_loss + counters_.dropped_queue;
  for (std::uint32_t first = 0; first < segments.count;) {
    const std::uint32_t left = segments.count - first;
    if (segments.headers == 0 || left == 1) {  // whole or not at all
      if (loss_.passes(1) == 0) {
        ++counters_.dropped_loss;
      } else {
        admit(frame, buffer, segments, first, left, now);
      }
      break;
    }
    const std::uint32_t passed = loss_.passes(left);
    if (passed > 0) admit(frame, buffer, segments, first, passed, now);
    if (passed < left) ++counters_.dropped_loss;
    first += passed + 1;
  }
  traffic_.dropped(now, counters_.dropped_loss + counters_.dropped_queue - dropped);
  advance(now);
}

// Takes as many of the segments as the queue has room for: the first ones.
void Channel::admit(std::span<const std::byte> frame, BufferPool::Buffer& buffer,
                    const Segments& segments, std::uint32_t first, std::uint32_t n, Nanos now) {
  const auto wire = [&](std::uint32_t count) {
    return std::uint64_t{segments.bytes_of(first, count)} +
           std::uint64_t{count} * settings_.overhead;
  };
  std::uint32_t fit = n;
  if (settings_.rate > 0) {
    const std::uint64_t unsent = shaper_.unsent(now);
    const std::uint64_t room = queue_.room(unsent);
    const bool idle = queue_.empty() && unsent == 0;  // the first is sent at once: never queued
    if (wire(n) > room) {
      if (segments.headers == 0) {
        fit = idle ? n : 0;
      } else {
        fit = static_cast<std::uint32_t>(std::min<std::uint64_t>(room / wire(1), n));
        if (fit == 0 && idle) fit = 1;
      }
    }
  }
  counters_.dropped_queue += n - fit;
  if (fit == 0) return;

  Packet packet;
  packet.segments = fit;
  packet.wire_bytes = wire(fit);
  if (buffer && fit == segments.count) {
    packet.data = std::move(buffer);
    packet.size = static_cast<std::uint32_t>(frame.size());
  } else {
    packet.data = pool_.get(frame.size());
    if (!packet.data) {
      counters_.dropped_memory += fit;
      return;
    }
    if (fit == segments.count) {
      std::memcpy(packet.data.get(), frame.data(), frame.size());
      packet.size = static_cast<std::uint32_t>(frame.size());
    } else {
      packet.size = static_cast<std::uint32_t>(
          cut(frame, segments, first, fit, {packet.data.get(), frame.size()}));
    }
  }
  damage(packet);
  if (single_.passes(1) == 0) {
    Packet again{pool_.get(packet.size), packet.size, packet.segments, packet.wire_bytes};
    if (again.data) {
      std::memcpy(again.data.get(), packet.data.get(), packet.size);
      ++counters_.duplicated;
      push(std::move(again), now);
    }
  }
  push(std::move(packet), now);
}

// Makes a byte wrong when it is time for one.
void Channel::damage(Packet& packet) {
  if (settings_.corrupt == 0) return;
  clean_ += packet.size;
  if (clean_ < settings_.corrupt || !spoil({packet.data.get(), packet.size})) return;
  clean_ = 0;
  ++counters_.corrupted;
}

void Channel::push(Packet packet, Nanos now) {
  queue_.push(std::move(packet), now);
  counters_.queue_most = std::max(counters_.queue_most, queue_.bytes() + shaper_.unsent(now));
}

// Everything whose turn came up to now leaves the queue, at the very time of its turn.
void Channel::advance(Nanos now) {
  while (!queue_.empty() && std::max(shaper_.free_at(), queue_.front().arrival) <= now) {
    DropTailQueue::Item item = queue_.pop();
    const Nanos sent = shaper_.transmit(item.arrival, item.packet.wire_bytes);
    counters_.bytes += item.packet.wire_bytes;
    traffic_.sent(sent, item.packet.wire_bytes);
    line_.push(std::move(item.packet), sent + settings_.delay + jitter_.draw(), !settings_.reorder);
  }
}

std::optional<Channel::Due> Channel::take_due(Nanos now) {
  advance(now);
  if (const auto next = line_.next(); !next || *next > now) return std::nullopt;
  DelayLine::Item item = line_.pop();
  counters_.delivered += item.packet.segments;
  return Due{std::move(item.packet), item.release};
}

std::optional<Nanos> Channel::deadline() const {
  std::optional<Nanos> earliest = line_.next();
  if (!queue_.empty()) {
    const auto& front = queue_.front();
    const Nanos sent = std::max(shaper_.free_at(), front.arrival) +
                       shaper_.duration(front.packet.wire_bytes) + settings_.delay;
    earliest = earliest ? std::min(*earliest, sent) : sent;
  }
  return earliest;
}

std::uint64_t Channel::backlog(Nanos now) {
  advance(now);
  return queue_.bytes() + shaper_.unsent(now);
}

}  // namespace isthmus::lab
