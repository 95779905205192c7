// One process's requests to the other members of a window. Data does not wait for answers: a lock,
// its operations and its unlock travel one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/datatype/type_map.hpp"
#include "core/engine/engine.hpp"
#include "rma/channel.hpp"
#include "rma/locks.hpp"
#include "rma/record.hpp"

namespace isthmus::rma {

/// The target of an operation.
struct Place {
  int rank = 0;
  std::int64_t displacement = 0;       ///< bytes
  const core::TypeMap* map = nullptr;  ///< null: bytes (elements, of an accumulate) in a row
  std::int64_t count = 0;              ///< of the map
  /// The target may have it on a device. It copies, so large data goes in parts.
  bool staged = false;
};

/// An operation has failed at its target.
struct Failure {
  std::string device;  ///< words of its device's driver; empty: an operation was beyond its window
};

/// Counts the parts of an operation that still need the program's memory. May be null.
using Ticket = std::shared_ptr<std::atomic<int>>;
/// Added to a ticket: the target has failed, and a part of the operation with it.
inline constexpr int kLost = 1 << 30;
inline int parts_left(const Ticket& ticket) {
  return ticket->load(std::memory_order_acquire) & ~kLost;
}
inline bool is_lost(const Ticket& ticket) {
  return (ticket->load(std::memory_order_acquire) & kLost) != 0;
}

/// All functions need the engine's lock, if they do not say otherwise.
class Origin {
 public:
  explicit Origin(Channel& channel);
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  /// Small data is copied at once; large data is borrowed until the ticket has counted down, and
  /// `keep` with it, which may be null.
  void put(const Place& to, std::span<const std::byte> data, const std::shared_ptr<void>& keep,
           const Ticket& ticket);
  void get(const Place& from, std::span<std::byte> into, const Ticket& ticket);
  /// Data as that of put.
  void accumulate(const Place& to, const Combination& how, std::span<const std::byte> data,
                  const std::shared_ptr<void>& keep, const Ticket& ticket);
  /// Copies data at once; the old values come to `before`, of the size of the place. NoOp has no
  /// data.
  void fetch(const Place& to, const Combination& how, std::span<const std::byte> data,
             std::span<std::byte> before, const Ticket& ticket);
  void compare_and_swap(const Place& to, std::span<const std::byte> compare,
                        std::span<const std::byte> swap, std::span<std::byte> before,
                        const Ticket& ticket);

  /// A shared lock beside others of this window passes (LockType), and so do those.
  void lock(int rank, LockType type);
  bool granted(int rank) const;
  /// All that an access to that rank waits for has come: locks and posts.
  bool open(int rank) const;
  /// All operations to that rank that have gone as records are done, and known to be.
  bool caught_up(int rank) const;
  /// Both return a number. When done(rank, number) all operations up to there have been done at the
  /// target, fetched values are here, and they leave the program's memory alone.
  std::uint64_t unlock(int rank);
  std::uint64_t flush(int rank);
  bool done(int rank, std::uint64_t number) const;
  /// All operations to a rank leave the program's memory alone from now on.
  bool local_done(int rank) const;
  /// Since the last call, an operation has failed at its target.
  std::optional<Failure> take_failure(int rank);
  /// The process of that rank has failed. All towards it is over: done, and known to be.
  bool failed(int rank) const;
  /// Since the last call, an operation has been lost with its target.
  bool take_loss(int rank);
  /// Sends the operations that have been gathered so far.
  void send_now(int rank);
  void send_all();
  /// False: the program should wait before it goes on, since much waits to be sent to `rank`.
  bool has_room(int rank) const;
  /// Ranks that operations have gone to.
  std::vector<int> partners() const;
  /// Finds out whether all that was begun here is done and known to be: then settled() until more
  /// is begun.
  void settle();
  /// For any thread, without the engine.
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  void unsettle() { settled_.store(false, std::memory_order_release); }

  /// Later operations for that rank wait for its next post.
  void start(int rank);
  void complete(int rank);
  /// No operation for that rank is kept here: posts that it waits for have come.
  bool all_sent(int rank) const;
  bool all_over() const;

  /// What targets send back. False: it breaks the protocol.
  void take_post(int rank);
  bool take_grant(int rank);
  bool take_done(int rank, std::uint64_t number, std::optional<Failure> failure);
  /// The process of that rank has failed.
  void fail(int rank);

 private:
  struct Partner;
  struct Parcel;
  struct Batch;
  struct Apart;
  struct Stream;
  struct Fetch;

  Partner& partner(int rank);
  /// For operations begun now.
  Partner& towards(int rank);
  const Partner* find(int rank) const;
  int next_tag() { return static_cast<int>(tags_++ & 0x3FFF'FFFFU); }
  std::uint32_t map_number(int rank, Partner& to, const core::TypeMap& map);
  std::uint64_t ask_number(Partner& to);
  void written(int rank, Partner& to);
  void send_batch(int rank, Partner& to);
  void ship(int rank, Partner& to, std::unique_ptr<Parcel> parcel);
  void release(Partner& to);
  void receive(int rank, Partner& from, int tag, std::span<std::byte> into, bool copied,
               const Ticket& ticket);
  void accumulate_apart(const Place& to, const Combination& how, std::span<const std::byte> data,
                        const std::shared_ptr<void>& keep, const Ticket& ticket);
  void accumulate_parts(const Place& to, const Combination& how, std::span<const std::byte> data,
                        std::span<std::byte> before, const Ticket& ticket);

  Channel& channel_;
  std::unordered_map<int, std::unique_ptr<Partner>> partners_;
  std::map<int, LockType> locked_;  // and not unlocked
  std::atomic<bool> settled_{true};
  std::uint32_t tags_ = 1;
  std::size_t under_way_ = 0;  // operations of the engine's
};

}  // namespace isthmus::rma
