#include "net/conduit_driver.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <cstring>
#include <deque>
#include <utility>

#include "core/stream_count.hpp"
#include "net/congestion.hpp"
#include "net/listener.hpp"

namespace isthmus::net {
namespace {

constexpr std::size_t kReadBuffer = std::size_t{256} * 1024;
static_assert(kReadBuffer >= core::kHeaderSize + core::kMaxBody);
// What is taken from the conduit at a time. Small: what is taken can't be overtaken any more.
constexpr std::size_t kWriteBatch = std::size_t{64} * 1024;
// The same of each of several streams over a long path, whose windows may be small: no more than
// a frame or two waits in one while others could send (core/outbound.cpp cuts what is larger).
constexpr std::size_t kTurn = std::size_t{8} * 1024;
// From so many streams over a long path on, one is for express frames: behind bulk they wait for
// what that stream has lost, 200 to 600 ms where it was the tail (2026-11: 8 B beside a stream,
// 1 Gbit/s at 11.6 ms, 32 streams).
constexpr std::size_t kLeastForExpress = 4;
// What may wait in the kernels' buffers of all streams: 1 ms' worth at 1 Gbit/s, so that the writer
// can sleep meanwhile; of each no less than lets it be woken in time. With many streams little, or
// the first ones would take more than they can send while others stand idle.
constexpr int kUnsent = 128 * 1024, kLeastUnsent = 16 * 1024;
constexpr int kReadTurns = 8;  // before others on this thread have their turn
// Of a frame that lacks so many bytes they are read to where they belong, and with them a little of
// what follows: enough to know where that belongs in turn.
constexpr std::size_t kLeastLanded = 4096, kBehindLanded = 1024;

Loss loss_by(const std::error_code& error) {
  return {error == asio::error::eof ? "it closed the connection" : error.message(),
          ended_by_peer(error)};
}

}  // namespace

core::Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::uint64_t random_session() {
  std::uint64_t session = 0;
  while (session == 0) {
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&session), sizeof session) != 1) {
      throw std::runtime_error("OpenSSL has no random numbers on this host");
    }
  }
  return session;
}

// A stream with its buffers.
struct ConduitDriver::Line {
  std::shared_ptr<Stream> stream;
  core::StreamId id = 0;
  std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(kReadBuffer);
  std::size_t begin = 0, end = 0;  // unread bytes in buffer
  // Of the frame at `begin` the last `landing` bytes are in place; `landed` of them have come.
  std::size_t landing = 0, landed = 0;
  bool landing_next = false;  // a frame has just landed, so the next may
  bool up = true;
  bool greeted = false;
  bool far = false;                     // a round trip is core::kFarRoundTrip or longer
  bool blocked = false;                 // waits until the stream can take more
  std::deque<core::PacketPtr> packets;  // being written
  std::size_t written = 0;              // of the first of them
};

ConduitDriver::ConduitDriver(asio::io_context& io, core::ConduitConfig config, Hooks hooks)
    : io_(io),
      conduit_(std::move(config), now()),
      hooks_(std::move(hooks)),
      pace_timer_(io),
      timer_(io) {}

ConduitDriver::~ConduitDriver() { close(); }

void ConduitDriver::attach(std::shared_ptr<Stream> stream, std::span<const std::byte> read) {
  if (closed_) {
    stream->close();
    return;
  }
  auto line = std::make_shared<Line>();
  line->stream = std::move(stream);
  line->id = conduit_.stream_up(now());
  const int socket = line->stream->socket().native_handle();
  if (!congestion_.empty()) static_cast<void>(net::set_congestion(socket, congestion_));
  const auto figures = tcp_figures(socket);  // connecting has measured the round trip
  line->far = figures && figures->rtt >= std::chrono::duration<double>(core::kFarRoundTrip);
  lines_.push_back(line);
  share_unsent();
  const std::size_t size = std::min(read.size(), kReadBuffer);
  if (size > 0) std::memcpy(line->buffer.get(), read.data(), size);
  const auto self = shared_from_this();
  if (size > 0) took(line, size);
  if (line->up) this->read(line);
  if (!closed_) flush();
}

void ConduitDriver::replace(std::shared_ptr<Stream> stream, std::span<const std::byte> read) {
  for (const auto& line : std::exchange(lines_, {})) {
    line->up = false;
    line->stream->close();
    conduit_.stream_down(line->id);
  }
  attach(std::move(stream), read);
}

void ConduitDriver::read(const LinePtr& line) {
  for (int turn = 0; turn < kReadTurns; ++turn) {
    if (line->begin > 0) {
      std::memmove(line->buffer.get(), line->buffer.get() + line->begin, line->end - line->begin);
      line->end -= line->begin;
      line->begin = 0;
    }
    std::array<iovec, 2> into{iovec{}, {line->buffer.get() + line->end, kReadBuffer - line->end}};
    if (line->landing > 0) into[0] = landing(line);
    if (line->landing > 0 || line->landing_next) into[1].iov_len = kBehindLanded;
    const auto moved = line->stream->read(std::span(into).subspan(line->landing > 0 ? 0 : 1));
    if (moved.error) {
      drop(line, loss_by(moved.error));
      return;
    }
    if (moved.bytes > 0) took(line, moved.bytes);
    if (!line->up || closed_) return;
    if (moved.wait == Stream::Wait::None) continue;
    line->stream->wait(moved.wait, [self = shared_from_this(), line](const std::error_code&) {
      if (!self->closed_ && line->up) self->read(line);
    });
    return;
  }
  asio::post(io_, [self = shared_from_this(), line] {
    if (!self->closed_ && line->up) self->read(line);
  });
}

// Where what is missing of the landing frame is to be read to. When it is not wanted any more, its
// message having been completed by another frame, that is a part of the buffer that nothing needs.
iovec ConduitDriver::landing(const LinePtr& line) {
  const std::span<const std::byte> head(line->buffer.get() + line->begin, line->end - line->begin);
  const auto frame = conduit_.arriving(line->id, head);
  std::byte* place = line->buffer.get() + kReadBuffer - line->landing;
  if (frame) {
    const auto wanted = hooks_.place(*frame);
    if (!wanted.empty()) place = wanted.data();
  }
  return {place + line->landed, line->landing - line->landed};
}

// Lets the frame that has come in part land, if it can.
void ConduitDriver::land(const LinePtr& line) {
  const std::span<const std::byte> bytes(line->buffer.get() + line->begin, line->end - line->begin);
  const auto frame = conduit_.arriving(line->id, bytes);
  if (!frame || frame->placed < kLeastLanded) return;
  const auto place = hooks_.place(*frame);
  if (place.size() < frame->placed) return;
  line->landing = place.size();
  line->landed = place.size() - frame->placed;
  if (line->landed > 0) std::memcpy(place.data(), bytes.last(line->landed).data(), line->landed);
  line->end -= line->landed;
}

// So many bytes have arrived: hands their frames on.
void ConduitDriver::took(const LinePtr& line, std::size_t bytes) {
  const std::size_t landed = std::min(bytes, line->landing - line->landed);
  line->landed += landed;
  line->end += bytes - landed;
  const bool whole = line->landing > 0 && line->landed == line->landing;
  const std::size_t placed = whole ? std::exchange(line->landing, line->landed = 0) : 0;
  const std::span<const std::byte> unread(line->buffer.get() + line->begin,
                                          line->end - line->begin);
  const auto result = conduit_.input(line->id, unread, now(), hooks_.frame, placed);
  line->begin += result.used;
  if (closed_) return;
  line->landing_next = whole;
  if (line->landing == 0 && hooks_.place && result.outcome == core::Conduit::Outcome::Good) {
    land(line);
  }
  if (result.outcome == core::Conduit::Outcome::Broken) {
    // Tell the other end, then go.
    line->up = false;
    std::erase(lines_, line);
    conduit_.stream_down(line->id);
    if (!line->packets.empty()) {
      line->stream->close();
    } else {
      refuse(line->stream, conduit_.config().self, conduit_.config().peer, result.reason);
    }
  }
  if (!line->greeted && conduit_.connected()) {
    line->greeted = true;
    if (hooks_.connected) hooks_.connected();
  }
  if (!closed_ && hooks_.progress) hooks_.progress();
  if (!closed_) flush();
}

void ConduitDriver::flush() {
  if (closed_) return;
  // More than one line: write() may drop a line, so by index over a copy.
  if (lines_.size() == 1) {
    const LinePtr line = lines_.front();
    write(line);
  } else if (!lines_.empty() && lines_.front()->far) {
    write_in_turns();
  } else {
    const auto lines = lines_;
    for (const auto& line : lines) write(line);
  }
  report();
  arm();
}

void ConduitDriver::write(const LinePtr& line) {
  const std::size_t limit = lines_.size() > 1 && line->far ? kTurn : kWriteBatch;
  while (write_batch(line, limit)) {
  }
}

// Bulk stays off this line.
bool ConduitDriver::for_express(const LinePtr& line) const {
  return line->far && lines_.size() >= kLeastForExpress && line == lines_.front();
}

// So that all windows fill alike: whoever has taken its share makes way for the next.
void ConduitDriver::write_in_turns() {
  if (for_express(lines_.front())) write(LinePtr(lines_.front()));
  for (std::size_t idle = 0; !closed_ && idle < lines_.size();) {
    turn_ = turn_ < lines_.size() ? turn_ : 0;
    const LinePtr line = lines_[turn_];
    const std::uint64_t before = conduit_.counts().wire_bytes;
    const bool more = write_batch(line, kTurn);
    idle = more ? 0 : idle + 1;
    if (!more || conduit_.counts().wire_bytes - before >= kTurn) ++turn_;
  }
}

// Writes what the line holds, or takes for it about so much. True: it may take more.
bool ConduitDriver::write_batch(const LinePtr& line, std::size_t limit) {
  if (line->blocked || !line->up) return false;
  if (line->packets.empty()) {
    const bool due = pace_.may_send(now());
    conduit_.output(line->id, now(), limit, taken_, due && !for_express(line));
    if (!due && conduit_.has_output(line->id)) arm_pace();
    if (pace_.limited()) {
      for (const auto& packet : taken_) pace_.sent(packet->size);
    }
    line->packets.insert(line->packets.end(), taken_.begin(), taken_.end());
    taken_.clear();
    if (line->packets.empty()) return false;
  }
  std::array<iovec, 64> parts;
  std::size_t count = 0, skip = line->written;
  for (const auto& packet : line->packets) {
    if (count == parts.size()) break;
    parts[count++] = {packet->data.get() + skip, packet->size - skip};
    skip = 0;
  }
  write_some(line, std::span(parts).first(count));
  return !line->blocked && line->up;
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
    self->write(line);
    if (self->closed_) return;
    if (self->hooks_.room) self->hooks_.room();
    self->arm();
  });
}

void ConduitDriver::drop(const LinePtr& line, const Loss& loss) {
  if (!line->up) return;
  line->up = false;
  line->stream->close();
  std::erase(lines_, line);
  share_unsent();
  conduit_.stream_down(line->id);
  const auto self = shared_from_this();
  report();
  if (closed_ || !conduit_.dead().empty()) return;
  if (!conduit_.peer_ended()) {
    if (hooks_.lost) hooks_.lost(loss);
  } else if (hooks_.room) {
    // What the other end has not acknowledged it no longer needs: whoever waits for that may go on.
    asio::post(io_, [self] {
      if (!self->closed_) self->hooks_.room();
    });
  }
  if (!closed_) flush();
}

// Tells the owner what has become of the conduit.
void ConduitDriver::report() {
  const auto self = shared_from_this();
  if (!closed_ && conduit_.peer_ended() && !told_ended_) {
    told_ended_ = true;
    if (hooks_.ended) hooks_.ended();
  }
  if (!closed_ && !conduit_.dead().empty()) {
    const auto dead = std::move(hooks_.dead);
    close();
    if (dead) dead(conduit_.dead());
  }
}

void ConduitDriver::arm() {
  if (closed_) return;
  const auto deadline = conduit_.deadline();
  if (!deadline || (armed_ && *armed_ <= *deadline)) return;  // wakes early enough
  armed_ = deadline;
  timer_.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(*deadline)));
  timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    self->armed_.reset();
    for (const core::StreamId id : self->conduit_.tick(now())) {
      const auto found = std::find_if(self->lines_.begin(), self->lines_.end(),
                                      [&](const auto& line) { return line->id == id; });
      if (found != self->lines_.end()) self->drop(LinePtr(*found), {"it has fallen silent"});
      if (self->closed_) return;
    }
    self->flush();
  });
}

bool ConduitDriver::goes_by(Stream::Leg leg) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [leg](const auto& line) { return line->stream->leg() == leg; });
}

std::map<core::StreamId, TcpFigures> ConduitDriver::figures() const {
  std::map<core::StreamId, TcpFigures> all;
  for (const auto& line : lines_) {
    if (line->stream->leg() != Stream::Leg::Socket) continue;  // its socket carries nothing
    if (const auto figures = tcp_figures(line->stream->socket().native_handle())) {
      all.emplace(line->id, *figures);
    }
  }
  return all;
}

std::error_code ConduitDriver::set_congestion(const std::string& name) {
  congestion_ = name;
  std::error_code first;
  if (name.empty()) return first;
  for (const auto& line : lines_) {
    const auto error = net::set_congestion(line->stream->socket().native_handle(), name);
    if (!first) first = error;
  }
  return first;
}

bool ConduitDriver::begins_anew() const {
  return std::any_of(lines_.begin(), lines_.end(), [](const auto& line) {
    return begins_anew_after_pauses(line->stream->socket().native_handle());
  });
}

void ConduitDriver::share_unsent() {
  const int streams = static_cast<int>(std::max<std::size_t>(1, lines_.size()));
  for (const auto& line : lines_) {
    set_unsent(line->stream->socket().native_handle(), std::max(kUnsent / streams, kLeastUnsent));
  }
}

void ConduitDriver::set_pace(double bytes_per_second) { pace_.set(bytes_per_second, now()); }

// Bulk goes on when the pace allows it.
void ConduitDriver::arm_pace() {
  if (pace_armed_) return;
  pace_armed_ = true;
  pace_timer_.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(pace_.next(now()))));
  pace_timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    self->pace_armed_ = false;
    self->flush();
    if (!self->closed_ && self->hooks_.room) self->hooks_.room();
  });
}

void ConduitDriver::close() {
  if (closed_) return;
  closed_ = true;
  timer_.cancel();
  pace_timer_.cancel();
  for (const auto& line : lines_) {
    line->up = false;
    line->stream->close();
  }
  lines_.clear();
}

}  // namespace isthmus::net
