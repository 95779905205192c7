// The writing half of ConduitDriver: what goes by which stream, and when.
#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <iterator>
#include <utility>
#include <vector>

#include "core/debug_off.hpp"
#include "net/conduit_driver.hpp"
#include "net/conduit_line.hpp"
#include "net/tcp_figures.hpp"

namespace isthmus::net {
namespace {

// Bytes that are taken from the conduit at a time. Small, because taken bytes cannot be overtaken
// any more.
constexpr std::size_t kWriteBatch = std::size_t{64} * 1024;
// The same of each of several streams over a long path, at least (core::turn_for).
constexpr std::size_t kTurn = core::kLeastTurn;
// One stream is for express frames if there are this many over a long path. Behind bulk they would
// wait for the repetition of lost segments, 200 to 600 ms if the tail was lost. That is for 8 B
// beside a stream, 1 Gbit/s at 11.6 ms, 32 streams (2026-11).
constexpr std::size_t kLeastForExpress = 4;
// Up to this many bytes in a row are sent without a look at the windows of all streams. That look
// takes 70 us with 48 streams, where a 1 KiB message takes 6 ms. A few streams have room for these
// bytes. More bytes should fill the windows equally. Then 1 MiB takes 15 ms, and 19 if some streams
// are filled first (1 Gbit/s at 11.6 ms; November 2026).
constexpr std::size_t kFew = std::size_t{64} * 1024 + 64 * core::kHeaderSize;
// Bytes that may wait in the kernels' buffers of all streams: 1 ms at 1 Gbit/s, so that the writer
// can sleep meanwhile. Each stream has enough to wake the writer in time. If there are many
// streams, each has little. Otherwise the first ones would take more than they can send while
// others are idle.
constexpr int kUnsent = 128 * 1024, kLeastUnsent = 4 * 1024;
// This much bulk leaves at once, even if other frames are ready.
constexpr std::size_t kMostLater = std::size_t{256} * 1024;

}  // namespace

void ConduitDriver::flush() {
  if (closed_) return;
  // Bytes in lines wait until their streams can take them.
  if (conduit_.has_output()) write_all();
  report();
  arm();
}

void ConduitDriver::flush_soon() {
  if (closed_ || lines_.empty() || !lines_.front()->far || conduit_.express_waits() ||
      core::off(core::Mechanism::FlushSoon) || conduit_.unsent_bulk() == 0 ||
      conduit_.unsent_bulk() >= kMostLater) {
    return flush();
  }
  if (std::exchange(flushing_, true)) return;
  asio::post(io_, [self = shared_from_this()] {
    self->flushing_ = false;
    if (self->closed_) return;
    self->flush();
    if (!self->closed_ && self->hooks_.room) self->hooks_.room();
  });
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

void ConduitDriver::write(const LinePtr& line) {
  const std::size_t limit = lines_.size() > 1 && line->far ? turn() : kWriteBatch;
  while (conduit_.has_output() && write_batch(line, limit)) {
  }
}

// Bulk stays off this line.
bool ConduitDriver::for_express(const LinePtr& line) const {
  return line->far && lines_.size() >= kLeastForExpress && line == lines_.front() &&
         !core::off(core::Mechanism::Express);
}

// Spare lines also repeat the frames that other lines have lost, once nothing new waits.
bool ConduitDriver::off_bulk(const LinePtr& line) const {
  return for_express(line) || (line->spare && lines_.size() > 1 && conduit_.unsent_bulk() > 0);
}

// In a crowd, few streams take bulk. If much is under way, the widest do.
void ConduitDriver::choose() {
  if (!conduit_.bulk_waits()) return;
  const core::Time t = now();
  const int most = crowd_ ? crowd_->streams(in_crowd_, t) : core::kMostStreams;
  const bool crowded = static_cast<std::size_t>(most) < lines_.size();
  if (std::exchange(crowded_, crowded) || crowded) {
    return crowded ? choose_of_crowd(static_cast<std::size_t>(most)) : all_take_bulk();
  }
  if (!core::off(core::Mechanism::BulkStreams) &&
      bulk_streams_.due(t, conduit_.counts().wire_bytes))
    choose_widest();
}

// The first ones; others instead of those whose frames are late.
void ConduitDriver::choose_of_crowd(std::size_t most) {
  std::size_t chosen = 0;
  uneven_ = false;
  for (const auto& line : lines_) {
    line->narrow = false;
    line->spare = chosen >= most;
    if (!line->spare && !for_express(line) && !conduit_.avoids(line->id)) ++chosen;
  }
  take_bulk_by(chosen);
}

void ConduitDriver::choose_widest() {
  std::vector<double> windows;
  for (const auto& line : lines_) {
    const auto figures = tcp_figures(line->stream->socket().native_handle());
    const bool takes = figures && !for_express(line) && !conduit_.avoids(line->id);
    windows.push_back(takes ? static_cast<double>(figures->window) : 0);
  }
  using enum core::BulkStreams::Part;
  const auto parts = bulk_streams_.choose(windows);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i]->spare = parts[i] == None;
    lines_[i]->narrow = parts[i] == Narrow;
  }
  uneven_ = std::ranges::count(parts, Narrow) > (for_express(lines_.front()) ? 1 : 0);
  const auto spare = static_cast<std::size_t>(std::ranges::count(parts, None));
  take_bulk_by(spare > 0 ? lines_.size() - spare : kAll);
}

void ConduitDriver::all_take_bulk() {
  for (const auto& line : lines_) line->spare = line->narrow = false;
  uneven_ = false;
  take_bulk_by(kAll);
}

void ConduitDriver::take_bulk_by(std::size_t takers) {
  if (std::exchange(takers_, takers) != takers) share_unsent();
}

// Small frames wait behind what a stream has taken, where none is for express frames alone.
std::size_t ConduitDriver::turn() const {
  if (takers_ == 1) return kWriteBatch;
  if (core::off(core::Mechanism::Turns)) return kTurn;
  if (lines_.size() < kLeastForExpress || growing_) return kTurn;
  const auto takers = static_cast<int>(std::min(takers_, lines_.size() - 1));
  const double round_trip = std::chrono::duration<double>(round_trip_).count();
  return core::turn_for(bulk_streams_.rate(), round_trip, takers);
}

// All windows fill equally: a stream that has taken its share lets the next one write.
void ConduitDriver::write_in_turns() {
  choose();
  if (for_express(lines_.front())) write(LinePtr(lines_.front()));
  if (beginning_anew() && (!pacer_ || pacer_->may_send(*this))) write_where_room();
  // Lines may be dropped meanwhile.
  for (std::size_t idle = 0; !closed_ && idle < lines_.size() && conduit_.has_output();) {
    turn_ = turn_ < lines_.size() ? turn_ : 0;
    const LinePtr& next = lines_[turn_];
    if ((next->spare || next->narrow) && conduit_.new_bulk_alone()) {
      ++idle;
      ++turn_;
      continue;
    }
    const LinePtr line = next;
    const std::uint64_t before = conduit_.counts().wire_bytes;
    const bool more = write_batch(line, turn());
    idle = more ? 0 : idle + 1;
    if (!more || conduit_.counts().wire_bytes - before >= turn()) ++turn_;
  }
}

// Whether the streams' windows may differ, since they grow from the least after a pause. To ask for
// all of them took 3 % of the time where it was always done (48 streams, 1 Gbit/s; November 2026).
bool ConduitDriver::beginning_anew() {
  if (!conduit_.bulk_waits()) return growing_ = false;
  const core::Time t = now();
  growing_ = takers_ == kAll && pause_.holds(t) && !core::off(core::Mechanism::AfterPause);
  pause_.sent(t);
  return growing_ || uneven_;
}

// Each stream gets the frame that it sends the soonest. Otherwise the last frames of a message
// would wait a round trip in streams whose windows are full while others stand idle.
void ConduitDriver::write_where_room() {
  const std::uint64_t before = conduit_.counts().wire_bytes;
  if (!core::off(core::Mechanism::FewFirst) && pause_.burst(now()) + conduit_.unsent_bulk() <= kFew)
    write_few();
  std::vector<std::pair<std::int64_t, LinePtr>> open;
  if (conduit_.bulk_waits()) {
    for (const auto& line : lines_) {
      if (line->blocked || !line->up || off_bulk(line)) continue;
      open.emplace_back(room_in_window(line->stream->socket().native_handle()), line);
    }
  }
  std::make_heap(open.begin(), open.end());
  while (!closed_ && !open.empty() && conduit_.has_output()) {
    std::pop_heap(open.begin(), open.end());
    auto& [room, line] = open.back();
    if (line->narrow && room < static_cast<std::int64_t>(kTurn)) {
      open.pop_back();
      continue;
    }
    // A few at a time, that windows may stay alike.
    const auto some = static_cast<std::size_t>(std::max<std::int64_t>(room / 4, 0));
    const std::size_t limit = takers_ == 1 ? turn() : std::clamp(some, kTurn, turn());
    if (write_counted(line, limit, room)) {
      std::push_heap(open.begin(), open.end());
    } else {
      open.pop_back();
    }
  }
  pause_.sent(now(), conduit_.counts().wire_bytes - before);
}

// Asks one stream after the other, until all is sent or none is left to ask.
void ConduitDriver::write_few() {
  for (std::size_t asked = 0; !closed_ && asked < lines_.size(); ++asked) {
    turn_ = turn_ < lines_.size() ? turn_ : 0;
    fill(LinePtr(lines_[turn_]));
    if (!conduit_.bulk_waits()) return;  // the stream's turn goes on
    ++turn_;
  }
}

// Writes frame by frame while the line's window has room for the whole of the next. A window counts
// segments: the last one of a frame, and an acknowledgement before it, are whole ones to it.
void ConduitDriver::fill(const LinePtr& line) {
  constexpr std::int64_t kRounding = 2 * std::int64_t{1460};
  if (line->blocked || !line->up || off_bulk(line)) return;
  std::int64_t room = room_in_window(line->stream->socket().native_handle());
  while (!closed_ && conduit_.bulk_waits()) {
    const std::size_t next = std::max<std::size_t>(1, conduit_.next_bulk());
    room -= kRounding;
    if (room < static_cast<std::int64_t>(next) || !write_counted(line, next, room)) return;
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
    const bool takes = !off_bulk(line) && (with_room || !line->narrow);
    conduit_.output(line->id, now(), limit, taken_, due && takes);
    std::size_t bytes = 0;
    for (const auto& packet : taken_) bytes += packet->size;
    line->packets.insert(line->packets.end(), std::make_move_iterator(taken_.begin()),
                         std::make_move_iterator(taken_.end()));
    taken_.clear();
    if (pacer_ && bytes > 0) pacer_->sent(bytes);
    if (!due && conduit_.has_output(line->id)) pacer_->wait(shared_from_this());
    if (line->packets.empty()) return false;
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
  line->stream->wait(moved.wait, [self = shared_from_this(), line](const std::error_code&) {
    line->blocked = false;
    if (self->closed_ || !line->up) return;
    self->write_some(line, {});  // what the stream itself holds
    self->write_packets(line);
    self->write(line);
    if (self->closed_) return;
    if (self->hooks_.room) self->hooks_.room();
    self->arm();
  });
}

void ConduitDriver::take_turn() {
  flush();
  if (!closed_ && hooks_.room) hooks_.room();
}

void ConduitDriver::share_unsent() {
  if (core::off(core::Mechanism::ShareUnsent)) return;
  // One stream takes small frames only, beside those that take bulk.
  const auto streams = static_cast<int>(
      takers_ < lines_.size() ? takers_ + 1 : std::max<std::size_t>(1, lines_.size()));
  for (const auto& line : lines_) {
    set_unsent(line->stream->socket().native_handle(), std::max(kUnsent / streams, kLeastUnsent));
  }
}

}  // namespace isthmus::net
