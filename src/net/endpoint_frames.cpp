// Moves a process's frames: from its engine to conduits while they have room, and from them to it.
#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <optional>

#include "core/limits.hpp"
#include "core/wire.hpp"
#include "net/endpoint_io.hpp"
#include "net/watch.hpp"

namespace isthmus::net {
namespace {

// Frames moved, and bytes copied, before the wire gets them; few at first, while it may be idle.
constexpr std::size_t kBatch = 32;
constexpr std::size_t kFirstBytes = 16 * 1024, kBatchBytes = 64 * 1024;
// Frames with at least this payload are written from the memory of the message. When the whole
// message has been written, its unacknowledged part is copied, while the peer reads.
constexpr std::size_t kLeastBorrowed = std::size_t{8} * 1024;

}  // namespace

void Endpoint::Io::flush() {
  for (auto& gate : gates) {
    if (gate.driver) gate.driver->flush();
  }
  direct->flush();
}

bool Endpoint::Io::flushed() const {
  return direct->flushed() && std::all_of(gates.begin(), gates.end(), [](const Gate& gate) {
           return !gate.driver || gate.driver->closed() || gate.driver->conduit().flushed();
         });
}

void Endpoint::Io::pump() {
  if (!open || owning) return;
  const auto by = [this](core::NodeId to, bool bulk) {
    ConduitDriver* const way = way_to(to, bulk);
    return way == nullptr ? nullptr : &way->conduit();
  };
  if (ways.waits() && ways.send_again(static_cast<core::NodeId>(config.node), by)) {
    sent_again = ways.sent_again();
    flush();
  }
  if (!endpoint.output_.load(std::memory_order_relaxed)) return;
  std::size_t bytes = kFirstBytes;
  for (;;) {
    while (pump_some(bytes)) bytes = kBatchBytes;
    if (borrowers.empty()) return;
    own_borrowed();
    if (!endpoint.output_.load(std::memory_order_relaxed)) return;  // there is room, or an answer
  }
}

// Call it before a send ends whose bytes are borrowed. Frames that are read meanwhile have to wait
// for their answers.
void Endpoint::Io::own_borrowed() {
  if (borrowers.empty()) return;
  owning = true;
  for (const auto& driver : std::exchange(borrowers, {})) driver->own();
  owning = false;
}

// Applies to bytes that streams may send over a long link while their windows grow. Under the
// engine's lock.
void Endpoint::Io::cut_finely() {
  const core::Time t = now();
  const std::size_t head = pause.holds(t) ? core::kFineHeadAfterPause : core::kFineHead;
  endpoint.engine_.set_fine_head(pause.flows(t) ? core::kCoarse : head);
}

// Pumps about this many bytes. True: there may be more.
bool Endpoint::Io::pump_some(std::size_t bytes) {
  const auto self = static_cast<core::NodeId>(config.node);
  const core::Engine::Room room = [this, self](core::NodeId peer, bool bulk,
                                               core::LinkChoice link) {
    return peer == self || way_to(peer, bulk, link) != nullptr;
  };
  bool good = true, looped = false, more = false;
  bool ends = false;  // a message of which something is borrowed
  std::array<ConduitDriver*, kBatch> used;
  std::size_t moved = 0;
  {
    std::lock_guard lock(endpoint.mutex_);
    core::Engine& engine = endpoint.engine_;
    if (far) cut_finely();
    core::OutFrame frame;
    for (std::size_t sum = 0; moved < kBatch && sum < bytes && engine.next_frame(frame, room);) {
      const std::size_t body = frame.head_size + frame.payload.size();
      if (frame.destination == self) {
        good = engine.loop_back(frame) && good;
        looped = true;
        continue;
      }
      ConduitDriver* const way = way_to(frame.destination, body > core::kExpressBody, frame.link);
      if (frame.payload.size() >= kLeastBorrowed && way->borrows()) {
        way->conduit().submit_borrowed(frame);
        const auto borrower = way->shared_from_this();
        if (std::ranges::find(borrowers, borrower) == borrowers.end()) {
          borrowers.push_back(borrower);
        }
      } else {
        way->conduit().submit(frame);
      }
      if (far && body > core::kExpressBody) pause.sent(now(), body);
      used[moved++] = way;
      sum += body;
      ends = !borrowers.empty() && engine.payload_ends();
      if (ends) break;
    }
    if (!ends) engine.payload_copied();
    if (!reading && engine.has_readings()) {
      reading = true;
      asio::post(io, [this] { read_piece(); });
    }
    if (moved > 0) endpoint.gathering_.taken();
    more = engine.has_output();
    endpoint.publish();
  }
  for (std::size_t i = 0; i < moved; ++i) {
    if (i == 0 || used[i] != used[i - 1]) used[i]->flush();
  }
  if (moved > 0) flushed_by(*used[moved - 1]);
  if (ends) {
    own_borrowed();
    const std::lock_guard lock(endpoint.mutex_);
    endpoint.engine_.payload_copied();
    more = endpoint.engine_.has_output();
    endpoint.publish();
  }
  if (!good) tell_broken(self);
  return looped || (moved > 0 && more);
}

// A ring takes a frame in less time than the clock its answer.
void Endpoint::Io::flushed_by(const ConduitDriver& way) {
  const bool ring = way.goes_by(Stream::Leg::Memory);
  endpoint.gathering_.flushed(ring ? way.conduit().clock() : now());
  endpoint.waited_.store(false, std::memory_order_relaxed);
}

bool Endpoint::Io::send_at_once(core::SendOp& op) {
  ConduitDriver* way = nullptr;
  {
    const std::lock_guard lock(endpoint.mutex_);
    if (!open || ways.waits() || op.peer == static_cast<core::NodeId>(config.node)) return false;
    way = way_to(op.peer, false);
    core::OutFrame frame;
    if (way == nullptr || !endpoint.engine_.send_at_once(op, frame)) return false;
    way->conduit().submit(frame);
    endpoint.engine_.payload_copied();
    endpoint.gathering_.passed();
    endpoint.publish();
  }
  way->flush();
  flushed_by(*way);
  pump();
  return true;
}

// The memory is the receive's until end_reading: nothing else ends a receive that has been matched.
void Endpoint::Io::read_piece() {
  reading = false;
  std::optional<core::Engine::Reading> piece;
  {
    const std::lock_guard lock(endpoint.mutex_);
    piece = endpoint.engine_.next_reading();
  }
  if (!piece) return;
  const bool good = piece->read();
  {
    const std::lock_guard lock(endpoint.mutex_);
    endpoint.engine_.end_reading(*piece, good);
    endpoint.publish();
  }
  progress();
  // A thread that runs posted work looks at no ring before all of it is done.
  asio::use_service<Watch>(io).look();
}

bool Endpoint::Io::deliver(const core::InFrame& frame) {
  bool good = frame.destination == static_cast<core::NodeId>(config.node);
  if (good && frame.kind == core::FrameKind::Invite) {
    const auto invite = decode_invite(frame.body);
    good = invite.has_value();
    if (good) direct->take_invite(frame.source, *invite);
  } else if (good) {
    std::lock_guard lock(endpoint.mutex_);
    good = endpoint.engine_.deliver(frame);
    endpoint.publish();
  }
  if (!good) tell_broken(frame.source);
  return true;
}

void Endpoint::Io::tell_broken(core::NodeId source) {
  tell_fault(rank_name() + " received a message from " + config.world.rank_name(source) +
             " that breaks the protocol");
}

// The memory stays the receive's while this thread has its turn: only arrivals complete it.
std::span<std::byte> Endpoint::Io::place(const core::InFrame& beginning) {
  if ((beginning.flags & core::kReturned) != 0) return {};
  std::lock_guard lock(endpoint.mutex_);
  return endpoint.engine_.place(beginning);
}

}  // namespace isthmus::net
