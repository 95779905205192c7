// The state behind Engine: its channels, its matching, and the order of sending.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/engine/engine.hpp"
#include "core/engine/inbound.hpp"
#include "core/engine/matching.hpp"
#include "core/engine/outbound.hpp"
#include "core/engine/services.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::core {

/// Extracted messages that were dropped unreceived: noted by whichever thread drops them, dealt
/// with by the engine.
class Dropped {
 public:
  using Name = std::pair<NodeId, std::uint64_t>;  // peer, number

  void add(Name name) noexcept {
    try {
      const Lock lock(mutex_);
      names_.push_back(name);
      any_.store(true, std::memory_order_release);
      // NOLINTNEXTLINE(bugprone-empty-catch)
    } catch (...) {  // no memory: the message stays in the engine, which is harmless
    }
  }
  bool any() const { return any_.load(std::memory_order_acquire); }
  std::vector<Name> take() {
    const Lock lock(mutex_);
    any_.store(false, std::memory_order_relaxed);
    return std::exchange(names_, {});
  }

 private:
  Mutex mutex_;
  std::atomic<bool> any_{false};
  std::vector<Name> names_ GUARDED_BY(mutex_);
};

/// Names a message that its Inbound holds in stage Extracted, unless `received`.
struct Extracted {
  Extracted(const Incoming& message, std::shared_ptr<Dropped> dropped_)
      : envelope(message.envelope()),
        peer(message.peer),
        number(message.body.number),
        dropped(std::move(dropped_)) {}
  ~Extracted() {
    if (!received) dropped->add({peer, number});
  }
  Extracted(const Extracted&) = delete;
  Extracted& operator=(const Extracted&) = delete;

  const Envelope envelope;
  const NodeId peer;
  const std::uint64_t number;
  bool received = false;
  const std::shared_ptr<Dropped> dropped;
};

/// Both directions to one peer, and its places among those that have something to send.
struct Channel {
  Channel(NodeId peer_, const Limits& limits) : peer(peer_), in(peer_, limits), out(limits) {}

  const NodeId peer;
  Inbound in;
  Outbound out;
  std::shared_ptr<const Engine::Reader> read;  ///< for the peer's lent messages; null: it may not
                                               ///< lend
  Links<Channel> reply_links, envelope_links, piece_links;
};

/// A message of the engine's own bytes, kept until its send is over, or the engine ends.
struct Posted final : SendOp, Completion {
  Posted(std::list<Posted>& kept_in_, std::vector<std::byte> bytes_)
      : kept_in(kept_in_), bytes(std::move(bytes_)) {
    data = bytes;
    then = this;
  }
  void over(Op& /*op*/) override { kept_in.erase(place); }

  std::list<Posted>& kept_in;
  std::list<Posted>::iterator place;
  const std::vector<std::byte> bytes;
};

struct Engine::State {
  State(NodeId self_, Limits limits_)
      : self(self_), limits(limits_), services([this](Incoming& message, RecvOp* op) {
          if (op != nullptr) start(*op);
          bind(channel(message.peer), message, op);
        }) {}

  /// Never forgotten. Messages to and from one peer mostly follow each other.
  Channel& channel(NodeId peer) {
    if (recent == nullptr || recent->peer != peer) recent = &find_or_make_channel(peer);
    return *recent;
  }
  Channel& find_or_make_channel(NodeId peer);
  /// Queues a channel to send what it has.
  void activate(Channel& channel);

  LinkChoice link_of(std::uint64_t context) const {
    if (chosen.empty()) return kAnyLink;
    const auto found = chosen.find(context);
    return found == chosen.end() ? kAnyLink : found->second;
  }
  void start(RecvOp& op);
  void start(SendOp& op);
  /// Gives a message its receive (null: drops it); completes what is complete.
  void bind(Channel& channel, Incoming& message, RecvOp* op);
  void complete(Channel& channel, Incoming& message);
  /// Reads a lent message that has been bound, or starts to read it in pieces.
  void read_lent(Channel& channel, Incoming& message);
  /// It has been read, or cannot be: then its bytes are requested.
  static void end_lent(Channel& channel, Incoming& message, bool good);
  /// Bytes of a message have been stored in its receive, the first `prefix` of them without a gap.
  void tell_prefix(RecvOp& op, std::uint64_t prefix);
  void finish(RecvOp& op, const Envelope& envelope, NodeId peer, std::uint64_t number);
  void finish(SendOp& op);
  void sweep_dropped();

  // failing.cpp
  bool has_failed(NodeId peer) const {
    for (const auto& [first, count] : failed) {
      if (peer >= first && peer - first < count) return true;
    }
    return false;
  }
  /// `message`: the one that it has matched, if any.
  void fail(RecvOp& op, const Incoming* message = nullptr);
  void fail(SendOp& op);
  /// All that is under way with a peer that has failed.
  void fail(Channel& channel);
  /// The receives posted that only processes which have failed could serve.
  void fail_posted();
  /// A message from a peer that has failed has been bound: its receive is over, with all of it or
  /// failed.
  void end_bound(Channel& channel, Incoming& message);
  /// An operation ends without a completion.
  void forget(Op& op);

  /// A message is next in order. False: the peer breaks the protocol.
  [[nodiscard]] bool sequence(Channel& from, Incoming& message);
  [[nodiscard]] bool sequence_all(Channel& from);
  /// Matches the unexpected messages of a context with the receives posted.
  void match_again(std::uint64_t context);
  void store(Channel& from, Incoming& message, std::uint64_t offset,
             std::span<const std::byte> bytes);
  void note_stored(Channel& from, Incoming& message);
  bool take(NodeId source, Channel& from, const EnvelopeBody& body,
            std::span<const std::byte> payload);
  bool on_envelope(const InFrame& frame);
  bool on_batch(const InFrame& frame);
  bool on_piece(const InFrame& frame);
  bool on_spoil(const InFrame& frame);
  bool on_grant(const InFrame& frame);  // or Taken
  bool on_credit(const InFrame& frame);

  bool next_frame(OutFrame& out, const Room& room);
  void next_envelope(Channel& to, bool bulky, OutFrame& out);
  void borrow(SendOp& op, Channel& to, FrameKind kind, OutFrame& out);
  bool next_is_piece() const;

  /// Completions are called when the engine has finished its work; operations that they begin end
  /// here, too.
  void settle() {
    if (!over.empty() && !settling) tell_over();
  }
  void tell_over();

  template <trace::Event event>
  static void note_matched(NodeId peer, const Envelope& envelope) {
    trace::note<event>(peer, envelope.context, envelope.source, envelope.tag, envelope.size);
  }

  /// A lent message that is read in pieces.
  struct LentMessage {
    NodeId peer;
    std::uint64_t number;
    std::size_t read = 0;
  };

  const NodeId self;
  Limits limits;
  /// For the peers from `first` on, as set by Engine::set_window.
  struct Exception {
    NodeId first, count;
    Limits limits;
  };
  std::list<Exception> exceptions;
  std::list<Posted> posted;
  std::unordered_map<NodeId, Channel> channels;
  Channel* recent = nullptr;                             // of them, the last one used
  std::unordered_map<std::uint64_t, LinkChoice> chosen;  // by context
  Matching matching;
  Services services;
  std::deque<LentMessage> lent;                   // but the one whose piece is being read
  std::vector<Op*> over;                          // their completions are still to be called
  std::vector<std::pair<NodeId, NodeId>> failed;  // peers: the first, and how many
  bool settling = false;
  IntrusiveList<Channel, &Channel::reply_links> replies;
  IntrusiveList<Channel, &Channel::envelope_links> envelopes;
  IntrusiveList<Channel, &Channel::piece_links> pieces;
  SendOp* borrowed = nullptr;   // the last frame borrows its bytes
  std::size_t since_piece = 0;  // payload bytes sent in envelopes since the last piece
  std::size_t outstanding = 0;
  std::size_t gathered = 0;  // bytes of small messages that no frame has taken
  std::uint64_t events = 0;
  bool repeats = false;  // a frame has been sent another way: any may come twice
  const std::shared_ptr<Dropped> dropped = std::make_shared<Dropped>();
};

}  // namespace isthmus::core
