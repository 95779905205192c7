// The knowledge of a process's part of a window about another member, and the engine's operations
// that it has under way. For window.cpp and target.cpp.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "rma/window.hpp"

namespace isthmus::rma {

/// Data of at least this size that lands in a row goes as a message of its own, straight from and
/// to its places. Copying it costs more than the message does (some microseconds).
inline constexpr std::size_t kApart = std::size_t{32} << 10;
/// Other data goes in parts of this size.
inline constexpr std::size_t kPart = std::size_t{64} << 10;
/// Data of accumulates goes in parts of kStreamPart bytes, and the engine has at most kStreamed of
/// them at a time. A target has limited memory for a service at once (core::kMostServiceBytes), and
/// parts in the engine use their share of the target's window. Copied into records of 64 KiB first,
/// 64 MiB took 636 ms by gateways and 658 direct. This way it takes 590 and 587, the same as
/// messages (2026-11, 1 Gbit/s, 11.6 ms).
inline constexpr std::size_t kStreamPart = std::size_t{256} << 10;
inline constexpr std::size_t kStreamed = 4;
static_assert(kStreamPart * kStreamed <= core::kMostServiceBytes);
/// Records are sent at this size.
inline constexpr std::size_t kBatch = std::size_t{16} << 10;
/// The most that waits to be sent to a partner. Then the most that may be sent behind requests that
/// the partner may not be able to do at once: a lock that is not given, a flush of data that has
/// not landed.
inline constexpr std::size_t kBacklog = std::size_t{4} << 20;
inline constexpr std::size_t kBehind = std::size_t{256} << 10;
/// The most that a target keeps for a partner within these limits, with the longest batch.
inline constexpr std::size_t kMostStalled = kBehind + 2 * core::kMostServiceBytes;
/// The most answers at a time that a partner must make copies for: a gigabit over 250 ms.
inline constexpr std::size_t kMostAnswers = std::size_t{32} << 20;
/// Operations under way to a partner that each keep some memory of their own, there or here.
inline constexpr std::size_t kMostApart = 4096;
inline constexpr std::size_t kMostFetches = std::size_t{1} << 16;
/// The network may still have sent data that its sender has forgotten.
inline constexpr std::size_t kMostLandings = std::size_t{1} << 16;
/// An origin may know that an answer has come before its target does.
inline constexpr std::size_t kMostAnswering = 2 * kMostFetches;
/// The longest form of a datatype that may travel.
inline constexpr std::size_t kMostMap = core::kMostServiceBytes / 2;
/// Marks tags of data that goes with PutApart: tags of answers do not have it.
inline constexpr int kApartTag = 1 << 30;

struct Window::Partner {
  // As my target.
  std::vector<std::byte> batch;
  std::size_t batch_answers = 0;  // bytes that the batch requests
  std::deque<Parcel*> held;       // may not be sent yet, in order
  std::size_t backlog = 0;        // bytes of batches that have not been sent
  std::size_t sent_behind = 0;    // bytes since the partner may be held up
  std::size_t answers_due = 0;    // bytes requested from the partner
  std::size_t apart = 0;          // data to be sent, or under way
  std::size_t parts = 0;          // of it, of accumulates, that the engine has
  std::size_t fetches = 0;        // answers that must come
  bool unflushed = false;         // something was begun since the last number
  std::uint64_t asked = 0, answered = 0;
  std::uint64_t locks_asked = 0, locks_sent = 0, locks_granted = 0;
  bool unlanded = false;  // data has been begun since the last number that goes or comes apart
  std::uint64_t landing_asked = 0, landing_sent = 0;  // numbers that wait for such data
  std::uint64_t starts = 0;                           // epochs that wait for a post each
  bool failed = false;
  std::unordered_map<std::string, std::uint32_t> map_numbers;
  std::uint64_t posts = 0;
  bool caught_up() const {
    return batch.empty() && held.empty() && apart == 0 && fetches == 0 && !unflushed &&
           answered == asked;
  }

  // As my origin.
  std::vector<core::TypeMap> maps;
  std::vector<std::byte> stalled;  // records that have to wait
  std::size_t landing = 0;         // data under way into my window
  std::size_t answering = 0;       // data under way from my window, read in place
  bool out_of_range = false;       // an operation was, since the last answer
  bool passes = false;             // its next shared lock does
  struct ApartHere {               // an accumulate whose data is coming
    Area area;                     // the part that must still come
    Combination how;
    bool outside = false;  // of the window: no memory is touched
  };
  std::optional<ApartHere> apart_here;
  std::uint64_t completes = 0;
  /// My window is neither read nor written by its operations any more.
  bool at_rest() const { return landing == 0 && answering == 0; }
};

/// An Area in this window's memory.
struct Window::Target {
  std::byte* memory = nullptr;  ///< the origin of offsets; null: out of the window
  const core::TypeMap* map = nullptr;
};

/// A message to a partner, in order; its own last owner, like all that follow.
struct Window::Parcel : core::SendOp, core::Completion {
  Parcel(Window& window_, Partner& to_)
      : window(window_),
        to(to_),
        starts(to_.starts),
        locks(to_.locks_asked),
        landing(to_.landing_asked) {
    then = this;
    ++window.under_way_;
  }
  virtual ~Parcel() = default;
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
  /// Hands it to the engine, or a part of it.
  virtual void go(core::Engine& engine) { engine.send(*this); }
  /// Whether the next go() is the last.
  virtual bool last() const { return true; }
  /// Bytes of the next part that the target keeps if it is held up.
  virtual std::size_t records() const { return 0; }
  Window& window;
  Partner& to;
  std::size_t answers = 0;  // bytes that they ask for
  bool in_parts = false;
  // The partner's requests at the time when this is sent.
  const std::uint64_t starts, locks, landing;
};

/// Records on their way.
struct Window::Batch final : Parcel {
  Batch(Window& window_, Partner& to_, std::vector<std::byte> bytes_)
      : Parcel(window_, to_), bytes(std::move(bytes_)) {
    data = bytes;
    to.backlog += bytes.size();
  }
  void over(core::Op& /*op*/) override {
    to.backlog -= bytes.size();
    --window.under_way_;
    delete this;
  }
  std::size_t records() const override { return bytes.size(); }
  const std::vector<std::byte> bytes;
};

/// Data of the program's on its way.
struct Window::Apart final : Parcel {
  Apart(Window& window_, Partner& to_, std::shared_ptr<void> keep_, Ticket ticket_)
      : Parcel(window_, to_), keep(std::move(keep_)), ticket(std::move(ticket_)) {
    ++to.apart;
    if (ticket) ticket->fetch_add(1);
  }
  void over(core::Op& /*op*/) override {
    --to.apart;
    --window.under_way_;
    if (ticket) ticket->fetch_sub(1);
    delete this;
  }
  const std::shared_ptr<void> keep;
  const Ticket ticket;
};

/// Data of an accumulate, which goes in messages of the service behind its record.
struct Window::Stream final : Parcel {
  Stream(Window& window_, Partner& to_, std::span<const std::byte> all, std::size_t most_,
         std::shared_ptr<void> keep_, Ticket ticket_)
      : Parcel(window_, to_), most(most_), keep(std::move(keep_)), ticket(std::move(ticket_)) {
    data = all;
    in_parts = true;
    ++to.apart;
    if (ticket) ticket->fetch_add(1);
  }
  void go(core::Engine& engine) override;
  bool last() const override { return data.size() - gone <= most; }
  std::size_t records() const override { return std::min(most, data.size() - gone); }
  void over(core::Op& op) override;
  const std::size_t most;  // bytes of a part
  std::size_t gone = 0;
  std::size_t parts = 0;  // under way
  const std::shared_ptr<void> keep;
  const Ticket ticket;
};

/// An answer that must come.
struct Window::Fetch final : core::RecvOp, core::Completion {
  Fetch(Window& window_, Partner& from_, std::size_t copied_, Ticket ticket_)
      : window(window_), from(from_), copied(copied_), ticket(std::move(ticket_)) {
    then = this;
    ++from.fetches;
    ++window.under_way_;
    if (ticket) ticket->fetch_add(1);
  }
  void over(core::Op& /*op*/) override {
    Window& here = window;
    Partner& partner = from;
    --partner.fetches;
    partner.answers_due -= copied;
    --here.under_way_;
    if (ticket) ticket->fetch_sub(1);
    delete this;
    here.release(partner);
  }
  Window& window;
  Partner& from;
  const std::size_t copied;  // bytes of it that the partner has to copy
  const Ticket ticket;
};

/// Data of an origin's on its way into the window.
struct Window::Landing final : core::RecvOp, core::Completion {
  Landing(Window& window_, int rank_, Partner& from_) : window(window_), rank(rank_), from(from_) {
    then = this;
    ++from.landing;
    ++window.under_way_;
  }
  void over(core::Op& /*op*/) override {
    Window& here = window;
    --from.landing;
    --here.under_way_;
    if (from.landing == 0 && !from.stalled.empty()) here.resumable_.push_back(rank);
    delete this;
    here.resume_all();
  }
  Window& window;
  const int rank;
  Partner& from;
};

/// Memory of the window on its way to an origin. It is read until this is over.
struct Window::Lent final : core::SendOp, core::Completion {
  Lent(Window& window_, int rank_, Partner& to_)
      : window(window_), rank(rank_), to(to_), index(window_.lent_++) {
    then = this;
    ++to.answering;
    ++window.under_way_;
    window.lending_.insert(index);
  }
  void over(core::Op& /*op*/) override {
    Window& here = window;
    --to.answering;
    --here.under_way_;
    here.lending_.erase(index);
    if (to.answering == 0 && !to.stalled.empty()) here.resumable_.push_back(rank);
    delete this;
    here.resume_all();
  }
  Window& window;
  const int rank;
  Partner& to;
  const std::uint64_t index;
};

}  // namespace isthmus::rma
