#include "net/conduit/conduit_driver.hpp"

#include <algorithm>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <cstring>
#include <utility>

#include "core/base/debug_off.hpp"
#include "core/streams/stream_count.hpp"
#include "net/conduit/conduit_line.hpp"
#include "net/host/congestion.hpp"

namespace isthmus::net {
namespace {

constexpr unsigned kInVain = 2;  // timeouts of TCP in a row

}  // namespace

Loss loss_by(const std::error_code& error) {
  return {error == asio::error::eof ? "it closed the connection" : error.message(),
          ended_by_peer(error)};
}

core::Time now() { return std::chrono::steady_clock::now().time_since_epoch(); }

ConduitDriver::ConduitDriver(asio::io_context& io, core::ConduitConfig config, For what,
                             ConduitUser& user)
    : SocketLook(asio::use_service<Watch>(io)),
      io_(io),
      conduit_(std::move(config), now()),
      for_(what),
      user_(user),
      timer_(io) {}

ConduitDriver::~ConduitDriver() { close(); }

void ConduitDriver::attach(std::shared_ptr<Stream> stream, std::span<const std::byte> read) {
  if (closed_) {
    stream->close();
    return;
  }
  auto line = std::make_shared<Line>();
  line->stream = std::move(stream);
  line->since = now();
  line->id = conduit_.stream_up(line->since);
  if (line->stream->leg() == Stream::Leg::Socket) line->stream->forget_writing();
  const int socket = line->stream->socket().native_handle();
  if (!congestion_.empty()) static_cast<void>(net::set_congestion(socket, congestion_));
  const auto figures = tcp_figures(socket);  // connecting has measured the round trip
  line->far = figures && figures->rtt >= std::chrono::duration<double>(core::kFarRoundTrip);
  plan_.up(figures ? core::Time(figures->rtt) : core::Time::zero(), line->far);
  if (figures) conduit_.set_round_trip(plan_.round_trip());
  if (full_packets_.doubtful() && figures && line->stream->leg() == Stream::Leg::Socket) {
    line->probing = true;
    conduit_.probe(line->id, FullPackets::probe(figures->segment));
  }
  lines_.push_back(line);
  share_unsent();
  const std::size_t size = std::min(read.size(), Line::kBuffer);
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
    plan_.down();
    conduit_.stream_down(line->id);
  }
  attach(std::move(stream), read);
}

// Keeps the figures of a stream's path before it is closed.
void ConduitDriver::judge(const LinePtr& line, bool silent) {
  if (line->stream->leg() != Stream::Leg::Socket || !line->greeted) return;
  const auto figures = tcp_figures(line->stream->socket().native_handle());
  if (!figures) return;
  if (silent || figures->timeouts >= kInVain) {
    full_packets_.stuck({line->since, now(), line->probing});
  }
}

void ConduitDriver::drop(const LinePtr& line, const Loss& loss, bool silent) {
  if (!line->up) return;
  judge(line, silent);
  line->up = false;
  line->stream->close();
  std::erase(lines_, line);
  plan_.down();
  share_unsent();
  conduit_.stream_down(line->id);
  const auto self = shared_from_this();
  report();
  if (closed_ || !conduit_.dead().empty()) return;
  if (!conduit_.peer_ended()) {
    user_.lost(loss);
  } else {
    // The other end no longer needs frames that it has not acknowledged. Their owner may go on.
    asio::post(io_, [self] {
      if (!self->closed_) self->user_.progress();
    });
  }
  if (!closed_) flush();
}

// Tells the owner what has become of the conduit.
void ConduitDriver::report() {
  const bool ends = conduit_.peer_ended() && !told_ended_;
  if (closed_ || (!ends && conduit_.dead().empty())) return;
  const auto self = shared_from_this();
  if (ends) {
    told_ended_ = true;
    user_.ended();
  }
  if (!closed_ && !conduit_.dead().empty()) {
    close();
    user_.dead(conduit_.dead());
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
      if (found != self->lines_.end()) self->drop(LinePtr(*found), {"it has fallen silent"}, true);
      if (self->closed_) return;
    }
    self->flush();
  });
}

bool ConduitDriver::borrows() const {
  return lines_.size() == 1 && !lines_.front()->far &&
         lines_.front()->stream->leg() == Stream::Leg::Socket &&
         !core::off(core::Mechanism::Borrowing);
}

void ConduitDriver::own() {
  constexpr std::size_t kBetweenLooks = std::size_t{128} * 1024;
  const auto self = shared_from_this();
  do {
    if (!closed_ && !lines_.empty()) look_at(LinePtr(lines_.front()));
  } while (conduit_.own_some(kBetweenLooks));
}

bool ConduitDriver::goes_by(Stream::Leg leg) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [leg](const auto& line) { return line->stream->leg() == leg; });
}

bool ConduitDriver::goes_only_by(Stream::Leg leg) const {
  return std::all_of(lines_.begin(), lines_.end(),
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

void ConduitDriver::close() {
  if (closed_) return;
  closed_ = true;
  end_looks();
  timer_.cancel();
  for (const auto& line : lines_) {
    line->up = false;
    line->stream->close();
  }
  lines_.clear();
}

}  // namespace isthmus::net
