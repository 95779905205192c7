#include "net/endpoint/endpoint_pump.hpp"

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <limits>
#include <optional>

#include "core/streams/stream_count.hpp"
#include "core/wire/wire.hpp"
#include "core/world/limits.hpp"
#include "net/conduit/batch.hpp"
#include "net/endpoint/endpoint_io.hpp"
#include "net/stream/watch.hpp"

namespace isthmus::net {
namespace {

// Frames moved, and bytes, before the wire gets them; few at first, while it may be idle. Later, or
// where large frames are under way, as many as are written together.
constexpr std::size_t kBatch = 32, kFirstBytes = 16 * 1024;
// Frames with at least this payload are written from the memory of the message. When the whole
// message has been written, its unacknowledged part is copied, while the peer reads.
constexpr std::size_t kLeastBorrowed = std::size_t{8} * 1024;

}  // namespace

Endpoint::Pump::Pump(Endpoint& owner, Io& its, const core::World& world)
    : endpoint_(owner), io_(its) {
  double longest = 0;  // seconds
  for (const core::Link& link : world.links) longest = std::max(longest, link.rtt);
  far_ = longest >= core::kFarRoundTrip;
  pause_.set_round_trip(
      std::chrono::duration_cast<core::Time>(std::chrono::duration<double>(longest)));
}

void Endpoint::Pump::run() {
  if (!io_.open || owning_) return;
  io_.send_again();
  if (!endpoint_.output_.load(std::memory_order_relaxed)) return;
  std::size_t most = kFirstBytes;
  for (;;) {
    while (move_some(most)) most = std::numeric_limits<std::size_t>::max();
    if (borrowers_.empty()) return;
    own_borrowed();
    if (!endpoint_.output_.load(std::memory_order_relaxed)) return;  // there is room, or an answer
  }
}

// Call it before a send ends whose bytes are borrowed. Frames that are read meanwhile have to wait
// for their answers.
void Endpoint::Pump::own_borrowed() {
  if (borrowers_.empty()) return;
  owning_ = true;
  for (const auto& driver : std::exchange(borrowers_, {})) driver->own();
  owning_ = false;
}

// Applies to bytes that streams may send over a long link while their windows grow. Under the
// engine's lock.
void Endpoint::Pump::cut_finely() {
  const core::Time t = now();
  const std::size_t head = pause_.holds(t) ? core::kFineHeadAfterPause : core::kFineHead;
  endpoint_.engine_.set_fine_head(pause_.flows(t) ? core::kCoarse : head);
}

// Small frames at the ends of a message are for those who pass on whole frames. A plain stream that
// leads straight to the receiver gains nothing by them. Under the engine's lock; applies to the
// frame after this one, too.
void Endpoint::Pump::cut_for(const ConduitDriver& way, core::NodeId peer) {
  const bool coarse = way.conduit().config().peer == peer && way.batch() >= Batch::kPlain;
  endpoint_.engine_.set_fine_head(coarse ? core::kCoarse : 0);
}

// Moves about as many bytes as are written together. While the conduit is idle, not many more than
// `most`. True: there may be more.
bool Endpoint::Pump::move_some(std::size_t most) {
  const auto self = static_cast<core::NodeId>(io_.config.node);
  const core::Engine::Room room = [this, self](core::NodeId peer, bool bulk,
                                               core::LinkChoice link) {
    if (peer == self) return true;
    ConduitDriver* const way = io_.way_to(peer, bulk, link);
    if (way != nullptr && bulk && !far_) cut_for(*way, peer);
    return way != nullptr;
  };
  bool good = true, looped = false, more = false;
  bool ends = false;  // a message of which something is borrowed
  std::array<ConduitDriver*, kBatch> used;
  std::size_t moved = 0;
  {
    std::lock_guard lock(endpoint_.mutex_);
    core::Engine& engine = endpoint_.engine_;
    if (far_) cut_finely();
    core::OutFrame frame;
    std::size_t bytes = most;
    for (std::size_t sum = 0; moved < kBatch && sum < bytes && engine.next_frame(frame, room);) {
      const std::size_t body = frame.head_size + frame.payload.size();
      if (frame.destination == self) {
        good = engine.loop_back(frame) && good;
        looped = true;
        continue;
      }
      ConduitDriver* const way =
          io_.way_to(frame.destination, body > core::kExpressBody, frame.link);
      const bool large = frame.payload.size() >= kLeastBorrowed;
      if (large && way->conduit().buffered() >= kLeastBorrowed) {
        most = std::numeric_limits<std::size_t>::max();
      }
      if (large && way->borrows() && !io_.config.survives) {
        way->conduit().submit_borrowed(frame);
        const auto borrower = way->shared_from_this();
        if (std::ranges::find(borrowers_, borrower) == borrowers_.end()) {
          borrowers_.push_back(borrower);
        }
      } else {
        way->conduit().submit(frame);
      }
      if (far_ && body > core::kExpressBody) pause_.sent(now(), body);
      bytes = std::min(most, way->batch());
      used[moved++] = way;
      sum += body;
      ends = !borrowers_.empty() && engine.payload_ends();
      if (ends) break;
    }
    if (!ends) engine.payload_copied();
    if (!reading_ && engine.has_readings()) {
      reading_ = true;
      asio::post(io_.io, [this] { read_piece(); });
    }
    if (moved > 0) endpoint_.gathering_.taken();
    more = engine.has_output();
    endpoint_.publish();
  }
  for (std::size_t i = 0; i < moved; ++i) {
    if (i == 0 || used[i] != used[i - 1]) used[i]->flush();
  }
  if (moved > 0) flushed_by(*used[moved - 1]);
  if (ends) {
    own_borrowed();
    const std::lock_guard lock(endpoint_.mutex_);
    endpoint_.engine_.payload_copied();
    more = endpoint_.engine_.has_output();
    endpoint_.publish();
  }
  if (!good) io_.tell_broken(self);
  return looped || (moved > 0 && more);
}

// A ring takes a frame in less time than the clock its answer.
void Endpoint::Pump::flushed_by(const ConduitDriver& way) {
  const bool ring = way.goes_by(Stream::Leg::Memory);
  endpoint_.gathering_.flushed(ring ? way.conduit().clock() : now());
  endpoint_.waited_.store(false, std::memory_order_relaxed);
}

bool Endpoint::Pump::send_at_once(core::SendOp& op) {
  ConduitDriver* way = nullptr;
  {
    const std::lock_guard lock(endpoint_.mutex_);
    if (!io_.open || io_.ways.waits() || op.peer == static_cast<core::NodeId>(io_.config.node)) {
      return false;
    }
    way = io_.way_to(op.peer, false);
    core::OutFrame frame;
    if (way == nullptr || !endpoint_.engine_.send_at_once(op, frame)) return false;
    way->conduit().submit(frame);
    endpoint_.engine_.payload_copied();
    endpoint_.gathering_.passed();
    endpoint_.publish();
  }
  way->flush();
  flushed_by(*way);
  run();
  return true;
}

// Reads a piece of a lent message; between two of them all others have their turn. The memory is
// the receive's until end_reading: nothing else ends a receive that has been matched.
void Endpoint::Pump::read_piece() {
  reading_ = false;
  std::optional<core::Engine::Reading> piece;
  {
    const std::lock_guard lock(endpoint_.mutex_);
    piece = endpoint_.engine_.next_reading();
  }
  if (!piece) return;
  const bool good = piece->read();
  {
    const std::lock_guard lock(endpoint_.mutex_);
    endpoint_.engine_.end_reading(*piece, good);
    endpoint_.publish();
  }
  io_.progress();
  // A thread that runs posted work looks at no ring before all of it is done.
  asio::use_service<Watch>(io_.io).look();
}

}  // namespace isthmus::net
