// The reading half of ConduitDriver: where bytes are read to, and the frames that they are.
#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/debug_off.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/conduit/conduit_line.hpp"
#include "net/stream/last_words.hpp"

namespace isthmus::net {
namespace {

// At most this many bytes are a message that somebody waits for.
constexpr std::size_t kFewRead = std::size_t{32} * 1024;
// While a read takes this many bytes, others come. A device hands over less than 64 KiB at once
// (Limits::piece). 1 MiB there and back took 317 us with 64 KiB here, 310 with 48. A message
// of 64 KiB took 53 and 49 (30 November 2026).
constexpr std::size_t kMuchRead = std::size_t{48} * 1024;
constexpr int kReadTurns = 8;  // before others on this thread have their turn
// A frame that lacks this many bytes is read to its final place.
constexpr std::size_t kLeastLanded = 4096;
// The same for frames that a gateway passes on. Smaller ones come many at a time, and are copied.
// That saves a gateway a sixth of its CPU time with messages of 1 MiB in frames of 8 and 64 KiB
// (November 2026).
constexpr std::size_t kLeastPassedOn = std::size_t{16} * 1024;
// Frames after a piece that was not the expected one, and had to be copied twice with what came
// behind it. A message that goes by several ways comes in any order.
constexpr int kAfterMiss = 16;

}  // namespace

// Empty if the line is closed.
std::optional<Stream::Wait> ConduitDriver::read_once(const LinePtr& line) {
  if (line->begin > 0) {
    std::memmove(line->buffer.get(), line->buffer.get() + line->begin, line->end - line->begin);
    line->end -= line->begin;
    line->begin = 0;
  }
  std::array<iovec, 1 + std::tuple_size_v<FrameRun::Parts>> into;
  std::size_t parts = 0;
  if (line->landing > 0) {
    into[parts++] = landing(line);
    // A little of what follows is read with it, enough to know the place of the next frame.
    for (const iovec& part : line->run.parts()) into[parts++] = part;
  } else {
    const std::size_t most = line->landing_next ? FrameRun::kBehind : Line::kBuffer - line->end;
    into[parts++] = {line->buffer.get() + line->end, most};
  }
  const bool runs = line->landing > 0 && !line->run.empty();
  const auto moved = line->stream->read(std::span(into).first(parts));
  if (moved.error) {
    drop(line, loss_by(moved.error));
    return {};
  }
  if (moved.bytes > 0) took(line, moved.bytes);
  if (!line->up || closed_) return {};
  // More has probably come while so much was read.
  return runs && moved.bytes >= kMuchRead ? Stream::Wait::None : moved.wait;
}

// `again`: its wait has ended and calls this.
void ConduitDriver::read(const LinePtr& line, bool again) {
  line->rests = false;
  for (int turn = 0; turn < kReadTurns; ++turn) {
    const auto wait = read_once(line);
    if (!wait) return;
    if (*wait == Stream::Wait::None) continue;
    line->rests = *wait == Stream::Wait::Readable;
    if (again && line->stream->wait_again(*wait)) return;
    line->stream->wait(*wait, [self = shared_from_this(), line](const std::error_code&) {
      if (!self->closed_ && line->up) self->read(line, true);
    });
    return;
  }
  asio::post(io_, [self = shared_from_this(), line] {
    if (!self->closed_ && line->up) self->read(line);
  });
}

// The place for the rest of the landing frame. If another frame has completed the message
// meanwhile, that is an unused part of the buffer.
iovec ConduitDriver::landing(const LinePtr& line) {
  line->run.expect({}, {});
  if (line->memory) {
    return {line->memory->body().data() + line->landed, line->landing - line->landed};
  }
  const std::span<const std::byte> head(line->buffer.get() + line->begin, line->end - line->begin);
  const auto frame = conduit_.arriving(line->id, head);
  std::byte* place = line->buffer.get() + Line::kBuffer - line->landing;
  if (frame) {
    const core::Landing wanted = user_.place(*frame);
    if (!wanted.payload.empty()) place = wanted.payload.data();
    if (line->stream->gathers() && lines_.size() == 1 && !line->far && line->unlikely == 0) {
      line->run.expect(head, wanted.behind);
    }
  }
  return {place + line->landed, line->landing - line->landed};
}

bool ConduitDriver::lands() const {
  return std::ranges::any_of(lines_, [](const auto& line) { return line->landing > 0; });
}

// Lets the frame that has come in part land, if it can.
void ConduitDriver::land(const LinePtr& line) {
  if (core::off(core::Mechanism::Landing)) return;
  const std::span<const std::byte> bytes(line->buffer.get() + line->begin, line->end - line->begin);
  const auto frame = conduit_.arriving(line->id, bytes);
  if (!frame || frame->placed < (for_ == For::Gateway ? kLeastPassedOn : kLeastLanded)) return;
  if (for_ == For::Gateway) line->memory = core::packet_for(frame->body.size() + frame->placed);
  const auto place = line->memory ? line->memory->body() : user_.place(*frame).payload;
  if (place.size() < frame->placed) return;
  line->landing = place.size();
  line->landed = place.size() - frame->placed;
  if (line->landed > 0) std::memcpy(place.data(), bytes.last(line->landed).data(), line->landed);
  line->end -= line->landed;
}

// If only a few whole bytes have come, an answer may bring the next. If there are many, it is
// better to read more at a time.
void ConduitDriver::watch_for_more(const LinePtr& line, std::size_t bytes) {
  if (core::off(core::Mechanism::SocketLooks)) return;
  if (for_ != For::Program || line->stream->leg() != Stream::Leg::Socket || lines_.size() > 1)
    return;
  if (bytes < kFewRead && line->landing == 0 && line->begin == line->end) {
    begin_looks();
  } else {
    end_looks();
  }
}

// Hands on the frames of the bytes that have arrived.
void ConduitDriver::took(const LinePtr& line, std::size_t bytes) {
  has_read_ = true;
  const std::size_t landed = std::min(bytes, line->landing - line->landed);
  line->landed += landed;
  if (line->landing > 0) {
    line->run.came(bytes - landed);
  } else {
    line->end += bytes;
  }
  const bool whole = line->landing > 0 && line->landed == line->landing;
  const std::size_t placed = whole ? std::exchange(line->landing, line->landed = 0) : 0;
  const std::span<const std::byte> unread(line->buffer.get() + line->begin,
                                          line->end - line->begin);
  auto memory = whole ? std::exchange(line->memory, nullptr) : nullptr;
  const core::Conduit::Sink sink = [this](const core::InFrame& frame, std::uint16_t hops) {
    return user_.frame(frame, hops);
  };
  auto result = conduit_.input(line->id, unread, now(), sink, placed, std::move(memory));
  line->begin += result.used;
  if (whole) {
    line->unlikely = std::max(line->unlikely - 1, 0);
    follow(line, sink, result);
  }
  if (closed_) return;
  if (line->probing && conduit_.probed(line->id)) {
    line->probing = false;
    full_packets_.pass();
  }
  // Acknowledgements between large frames are less than a read that is to find out what follows.
  line->landing_next = whole || (line->landing_next && bytes < FrameRun::kBehind);
  const bool lands = for_ != For::Report;
  if (line->landing == 0 && lands && result.outcome == core::Conduit::Outcome::Good) land(line);
  watch_for_more(line, bytes);
  if (result.outcome == core::Conduit::Outcome::Broken) {
    // Tell the other end, then go.
    line->up = false;
    std::erase(lines_, line);
    plan_.down();
    conduit_.stream_down(line->id);
    if (!line->packets.empty()) {
      line->stream->close();
    } else {
      refuse(line->stream, conduit_.config().self, conduit_.config().peer, result.reason);
    }
  }
  if (!line->greeted && conduit_.connected()) {
    line->greeted = true;
    user_.connected();
  }
  if (!closed_) user_.progress();
  if (!closed_) flush();
}

// Hands on what has come behind a frame that has landed.
void ConduitDriver::follow(const LinePtr& line, const core::Conduit::Sink& sink,
                           core::Conduit::Input& result) {
  line->begin = line->end = 0;
  const auto hand_on = [&](std::span<const std::byte> bytes, std::size_t placed) {
    result = conduit_.input(line->id, bytes, now(), sink, placed);
  };
  while (!closed_ && result.outcome == core::Conduit::Outcome::Good) {
    const auto frame = line->run.next();
    if (!frame) break;
    if (frame->landed < frame->payload) {
      std::ranges::copy(frame->head, line->buffer.get());
      line->end = frame->head.size();
      line->landing = frame->payload;
      line->landed = frame->landed;
      return;
    }
    hand_on(frame->head, frame->payload);
  }
  if (line->run.missed()) line->unlikely = kAfterMiss;
  line->end = line->run.rest(line->buffer.get());
  if (closed_ || result.outcome != core::Conduit::Outcome::Good || line->end == 0) return;
  hand_on({line->buffer.get(), line->end}, 0);
  line->begin = result.used;
}

// A peer that goes on sending does not hold this thread up for ever.
void ConduitDriver::read_come() {
  constexpr int kMostLooks = 64;
  const auto self = shared_from_this();
  for (const LinePtr& line : std::vector(lines_)) {
    has_read_ = true;
    for (int looks = 0; std::exchange(has_read_, false) && looks < kMostLooks; ++looks) {
      if (!closed_ && line->up) read_now(line);
    }
  }
}

// Reads what has come while the line's wait, which sees it too, has not ended.
void ConduitDriver::look_at(const LinePtr& line) {
  if (line->rests) read_now(line);
}

// If it does not rest, its next turn goes on from here.
void ConduitDriver::read_now(const LinePtr& line) {
  const bool rests = std::exchange(line->rests, false);  // in here it is being read
  auto wait = std::optional(Stream::Wait::None);
  for (int turn = 0; turn < kReadTurns && wait == Stream::Wait::None; ++turn) {
    wait = read_once(line);
    if (!wait) return;
  }
  line->rests = rests;
  if (rests && wait == Stream::Wait::None) go_on(line);
}

// The stream may hold bytes that its socket does not have any more. Its wait would not see them.
void ConduitDriver::go_on(const LinePtr& line) {
  if (std::exchange(line->goes_on, true)) return;
  asio::post(io_, [self = shared_from_this(), line] {
    line->goes_on = false;
    if (!self->closed_ && line->up) self->look_at(line);
  });
}

// It may be the last to hold this.
bool ConduitDriver::look() {
  const auto self = shared_from_this();
  return SocketLook::look();
}

bool ConduitDriver::read_news() {
  has_read_ = false;
  if (!closed_ && lines_.size() == 1) look_at(LinePtr(lines_.front()));
  return has_read_;
}

}  // namespace isthmus::net
