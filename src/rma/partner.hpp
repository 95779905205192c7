// What a process's part of a window knows of another member, and the engine's operations that it
// has under way. For window.cpp and target.cpp.
#pragma once

#include <string>

#include "rma/window.hpp"

namespace isthmus::rma {

/// Data of this many bytes or more that lands in a row goes as a message of its own, from and to
/// where it belongs: copying it costs more than the message does (some microseconds).
inline constexpr std::size_t kApart = std::size_t{32} << 10;
/// Other data goes in parts of so many bytes.
inline constexpr std::size_t kPart = std::size_t{64} << 10;
/// Records are sent when there are so many bytes of them.
inline constexpr std::size_t kBatch = std::size_t{16} << 10;
/// What may wait to be sent to a partner, and what may be sent behind a lock that is not given.
inline constexpr std::size_t kBacklog = std::size_t{4} << 20;
inline constexpr std::size_t kBehindLock = std::size_t{256} << 10;
/// The longest form of a datatype that may travel.
inline constexpr std::size_t kMostMap = core::kMostServiceBytes / 2;
/// Marks tags of data that goes with PutApart: those of answers have it not.
inline constexpr int kApartTag = 1 << 30;

struct Window::Partner {
  // As my target.
  std::vector<std::byte> batch;
  std::size_t backlog = 0;      // bytes of batches that have not been sent
  std::size_t sent_behind = 0;  // bytes since a lock was asked for
  std::size_t apart = 0;        // sends of data under way
  std::size_t fetches = 0;      // answers that are to come
  bool unflushed = false;       // something was begun since the last number
  std::uint64_t asked = 0, answered = 0;
  std::uint64_t locks_asked = 0, locks_granted = 0;
  bool failed = false;
  std::unordered_map<std::string, std::uint32_t> map_numbers;
  std::uint64_t posts = 0;

  // As my origin.
  std::vector<core::TypeMap> maps;
  std::vector<std::byte> stalled;  // records that have to wait
  std::size_t landing = 0;         // data under way into my window
  bool out_of_range = false;       // an operation was, since the last answer
  std::uint64_t completes = 0;
};

/// Records on their way; its own last owner, like all that follow.
struct Window::Batch final : core::SendOp, core::Completion {
  Batch(Window& window_, Partner& to_, std::vector<std::byte> bytes_)
      : window(window_), to(to_), bytes(std::move(bytes_)) {
    data = bytes;
    then = this;
    to.backlog += bytes.size();
    ++window.under_way_;
  }
  void over(core::Op& /*op*/) override {
    to.backlog -= bytes.size();
    --window.under_way_;
    delete this;
  }
  Window& window;
  Partner& to;
  const std::vector<std::byte> bytes;
};

/// Data of the program's on its way.
struct Window::Apart final : core::SendOp, core::Completion {
  Apart(Window& window_, Partner& to_, std::shared_ptr<void> keep_, Ticket ticket_)
      : window(window_), to(to_), keep(std::move(keep_)), ticket(std::move(ticket_)) {
    then = this;
    ++to.apart;
    ++window.under_way_;
    if (ticket) ticket->fetch_add(1);
  }
  void over(core::Op& /*op*/) override {
    --to.apart;
    --window.under_way_;
    if (ticket) ticket->fetch_sub(1);
    delete this;
  }
  Window& window;
  Partner& to;
  const std::shared_ptr<void> keep;
  const Ticket ticket;
};

/// An answer that is to come.
struct Window::Fetch final : core::RecvOp, core::Completion {
  Fetch(Window& window_, Partner& from_, Ticket ticket_)
      : window(window_), from(from_), ticket(std::move(ticket_)) {
    then = this;
    ++from.fetches;
    ++window.under_way_;
    if (ticket) ticket->fetch_add(1);
  }
  void over(core::Op& /*op*/) override {
    --from.fetches;
    --window.under_way_;
    if (ticket) ticket->fetch_sub(1);
    delete this;
  }
  Window& window;
  Partner& from;
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

/// Memory of the window on its way to an origin.
struct Window::Lent final : core::SendOp, core::Completion {
  explicit Lent(Window& window_) : window(window_) {
    then = this;
    ++window.under_way_;
  }
  void over(core::Op& /*op*/) override {
    --window.under_way_;
    delete this;
  }
  Window& window;
};

}  // namespace isthmus::rma
