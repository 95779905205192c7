// The writing half of ConduitDriver: what goes by which stream, and when.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/debug_off.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/conduit/conduit_line.hpp"
#include "net/host/tcp_figures.hpp"

namespace isthmus::net {

void ConduitDriver::flush() {
  if (closed_) return;
  // Bytes in lines wait until their streams can take them.
  if (conduit_.has_output()) write_all();
  report();
  arm();
}

// Lines may be dropped meanwhile.
void ConduitDriver::write_all() {
  if (lines_.size() == 1) {
    write(LinePtr(lines_.front()));
  } else if (!lines_.empty() && lines_.front()->far) {
    write_in_turns();
  } else {
    const auto lines = lines_;
    for (const auto& line : lines) write(line);
  }
}

std::size_t ConduitDriver::batch() const {
  // Large batches would exceed a rate that is set.
  if (lines_.size() != 1 || pacer_) return core::StreamPlan::kAlone;
  const Line& line = *lines_.front();
  if (line.far || line.stream->leg() != Stream::Leg::Socket) return core::StreamPlan::kAlone;
  return line.batch.bytes(!line.stream->gathers());
}

void ConduitDriver::write(const LinePtr& line) {
  const std::size_t limit = lines_.size() > 1 && line->far ? plan_.turn() : batch();
  while (conduit_.has_output() && write_batch(line, limit)) {
  }
}

std::size_t ConduitDriver::number(const LinePtr& line) const {
  return static_cast<std::size_t>(std::ranges::find(lines_, line) - lines_.begin());
}

core::StreamPlan::Role ConduitDriver::role(const LinePtr& line) const {
  return plan_.role(number(line));
}

bool ConduitDriver::off_bulk(const LinePtr& line) const {
  return plan_.off_bulk(number(line), conduit_.unsent_bulk());
}

void ConduitDriver::choose() {
  if (!conduit_.bulk_waits()) return;
  const core::Time t = now();
  const int most = crowd_ ? crowd_->streams(in_crowd_, t) : core::kMostStreams;
  if (plan_.choose(t, conduit_.counts().wire_bytes, most, *this)) share_unsent();
}

double ConduitDriver::window(std::size_t stream) const {
  const auto figures = tcp_figures(lines_[stream]->stream->socket().native_handle());
  return figures ? static_cast<double>(figures->window) : 0;
}

std::int64_t ConduitDriver::room(std::size_t stream) const {
  const Line& line = *lines_[stream];
  if (line.blocked || !line.up) return std::numeric_limits<std::int64_t>::min();
  return room_in_window(line.stream->socket().native_handle());
}

// All windows fill equally: a stream that has taken its share lets the next one write.
void ConduitDriver::write_in_turns() {
  using enum core::StreamPlan::Role;
  choose();
  const bool bulk = conduit_.bulk_waits();
  if (!bulk) {
    plan_.idle();
    small_ = plan_.for_small(small_, *this);
    // What is more than a turn is shared below.
    if (plan_.role(small_) != Express) write_batch(LinePtr(lines_[small_]), plan_.turn());
  }
  if (plan_.role(0) == Express && (bulk || small_ == 0)) write(LinePtr(lines_.front()));
  if (bulk && plan_.windows_differ(now()) && (!pacer_ || pacer_->may_send(*this))) {
    write_where_room();
  }
  // Lines may be dropped meanwhile.
  for (std::size_t idle = 0; !closed_ && idle < lines_.size() && conduit_.has_output();) {
    turn_ = turn_ < lines_.size() ? turn_ : 0;
    const auto is = plan_.role(turn_);
    if ((is == Spare || is == Narrow) && conduit_.new_bulk_alone()) {
      ++idle;
      ++turn_;
      continue;
    }
    const LinePtr line = lines_[turn_];
    const std::uint64_t before = conduit_.counts().wire_bytes;
    const bool more = write_batch(line, plan_.turn());
    idle = more ? 0 : idle + 1;
    if (!more || conduit_.counts().wire_bytes - before >= plan_.turn()) ++turn_;
  }
}

// Each stream gets the frame that it sends the soonest. Otherwise the last frames of a message
// would wait a round trip in streams whose windows are full while others stand idle.
void ConduitDriver::write_where_room() {
  std::vector<std::pair<std::int64_t, LinePtr>> open;
  for (const auto& line : lines_) {
    if (line->blocked || !line->up || off_bulk(line)) continue;
    open.emplace_back(room_in_window(line->stream->socket().native_handle()), line);
  }
  std::make_heap(open.begin(), open.end());
  while (!closed_ && !open.empty() && conduit_.has_output()) {
    std::pop_heap(open.begin(), open.end());
    auto& [room, line] = open.back();
    const bool narrow = role(line) == core::StreamPlan::Role::Narrow;
    if (narrow && room < static_cast<std::int64_t>(core::StreamPlan::kTurn)) {
      open.pop_back();
      continue;
    }
    if (write_counted(line, plan_.part(room), room)) {
      std::push_heap(open.begin(), open.end());
    } else {
      open.pop_back();
    }
  }
}

// As write_batch; what was written is taken from `room`.
bool ConduitDriver::write_counted(const LinePtr& line, std::size_t limit, std::int64_t& room) {
  const std::uint64_t before = conduit_.counts().wire_bytes;
  const bool more = write_batch(line, limit, true);
  room -= static_cast<std::int64_t>(conduit_.counts().wire_bytes - before);
  return more;
}

// Takes for the line about so much, and writes it until the stream can take no more. True: it may
// take more. `with_room`: its window has room for that.
bool ConduitDriver::write_batch(const LinePtr& line, std::size_t limit, bool with_room) {
  if (line->blocked || !line->up) return false;
  if (line->packets.empty()) {
    const bool due = !pacer_ || pacer_->may_send(*this);
    const bool takes =
        !off_bulk(line) && (with_room || role(line) != core::StreamPlan::Role::Narrow);
    conduit_.output(line->id, now(), limit, taken_, due && takes);
    std::size_t bytes = 0;
    for (const auto& packet : taken_) bytes += packet->size;
    line->packets.insert(line->packets.end(), std::make_move_iterator(taken_.begin()),
                         std::make_move_iterator(taken_.end()));
    taken_.clear();
    if (pacer_ && bytes > 0) pacer_->sent(bytes);
    if (!due && conduit_.has_output(line->id)) pacer_->wait(shared_from_this());
    if (line->packets.empty()) return false;
    line->batch.taken(bytes);
  }
  write_packets(line);
  return !line->blocked && line->up;
}

void ConduitDriver::write_packets(const LinePtr& line) {
  while (!line->packets.empty() && !line->blocked && line->up) {
    std::array<iovec, 64> parts;
    std::size_t count = 0, skip = line->written;
    const auto add = [&](const std::byte* from, std::size_t size) {
      const std::size_t written = std::min(skip, size);
      if (size > written) parts[count++] = {const_cast<std::byte*>(from) + written, size - written};
      skip -= written;
    };
    for (const auto& packet : line->packets) {
      if (count + 2 > parts.size()) break;
      add(packet->data.get(), packet->size - packet->borrowed.size());
      add(packet->borrowed.data(), packet->borrowed.size());
    }
    write_some(line, std::span(parts).first(count));
  }
}

void ConduitDriver::write_some(const LinePtr& line, std::span<const iovec> parts) {
  const auto moved = line->stream->write(parts);
  if (moved.error) {
    drop(line, loss_by(moved.error));
    return;
  }
  line->written += moved.bytes;
  while (!line->packets.empty() && line->written >= line->packets.front()->size) {
    line->written -= line->packets.front()->size;
    line->packets.pop_front();
  }
  if (moved.wait == Stream::Wait::None) return;
  line->blocked = true;
  line->blocked_at = now();
  line->stream->wait(moved.wait, [self = shared_from_this(), line](const std::error_code&) {
    line->blocked = false;
    line->batch.was_full(now() - line->blocked_at);
    if (self->closed_ || !line->up) return;
    self->write_some(line, {});  // what the stream itself holds
    self->write_packets(line);
    self->write(line);
    if (self->closed_) return;
    self->user_.progress();
    self->arm();
  });
}

void ConduitDriver::take_turn() {
  flush();
  if (!closed_) user_.progress();
}

void ConduitDriver::share_unsent() {
  if (core::off(core::Mechanism::ShareUnsent)) return;
  for (const auto& line : lines_) {
    set_unsent(line->stream->socket().native_handle(), plan_.unsent());
  }
}

}  // namespace isthmus::net
