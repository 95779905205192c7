// One process's part of a window: its requests to others (origin), and its work for others
// (target). Operations travel as records in messages of a service, in order from each origin. The
// target executes them as they come, whatever its program does. So every element is read and
// changed in one place, by one thread at a time. A pure state machine over core::Engine.
//
// Data does not wait for answers: a lock, its operations and its unlock travel one after the other.
// A target keeps everything behind a lock that it cannot give yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/engine.hpp"
#include "core/type_map.hpp"
#include "rma/locks.hpp"
#include "rma/memory.hpp"
#include "rma/record.hpp"
#include "rma/turn.hpp"

namespace isthmus::rma {

struct WindowConfig {
  std::uint64_t context = 0;        ///< of the window's own: without core::kServiceContext
  int rank = 0;                     ///< mine
  std::vector<core::NodeId> nodes;  ///< by rank
  Turn* turn = nullptr;             ///< of my memory, if origins combine in it themselves
};

/// The target of an operation.
struct Place {
  int rank = 0;
  std::int64_t displacement = 0;       ///< bytes
  const core::TypeMap* map = nullptr;  ///< null: bytes (elements, of an accumulate) in a row
  std::int64_t count = 0;              ///< of the map
};

/// Counts the parts of an operation that still need the program's memory. May be null.
using Ticket = std::shared_ptr<std::atomic<int>>;

/// All functions need the engine's lock (net::Endpoint::locked). The owner outlives all operations:
/// it destroys a window only when all members do so and quiet() holds.
class Window final : public core::Service {
 public:
  Window(core::Engine& engine, WindowConfig config, Memory memory);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  Memory& memory() { return memory_; }

  // ---- origin ---------------------------------------------------------------------------------

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
  /// Since the last call, an operation has named memory outside of the target's window.
  bool take_failure(int rank);
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

  void post(int rank);
  /// Later operations for that rank wait for its next post.
  void start(int rank);
  void complete(int rank);
  /// No operation for that rank is kept here: posts that it waits for have come.
  bool all_sent(int rank) const;
  bool has_completed(int rank) const;
  void take_complete(int rank);

  /// Whether all operations of this window here have ended.
  bool quiet() const;

  // ---- target ---------------------------------------------------------------------------------

  /// Answers that are read from the window's memory, begun so far.
  std::uint64_t lent() const { return lent_; }
  /// The first `number` of them are over: they leave the memory alone.
  bool given_back(std::uint64_t number) const {
    return lending_.empty() || *lending_.begin() >= number;
  }
  [[nodiscard]] bool take(core::NodeId from, const core::Envelope& envelope,
                          std::span<const std::byte> bytes) override;

 private:
  struct Partner;
  struct Parcel;
  struct Batch;
  struct Apart;
  struct Stream;
  struct Fetch;
  struct Landing;
  struct Lent;
  struct Target;
  enum class Step { Done, Stalled, Broken };

  Partner& partner(int rank);
  /// The partner as my target, for operations begun now.
  Partner& towards(int rank) {
    unsettle();
    return partner(rank);
  }
  const Partner* find(int rank) const;

  // Origin.
  int next_tag() { return static_cast<int>(tags_++ & 0x3FFF'FFFFU); }
  std::uint32_t map_number(int rank, Partner& to, const core::TypeMap& map);
  void written(int rank, Partner& to);
  void send_batch(int rank, Partner& to);
  void ship(int rank, Partner& to, std::unique_ptr<Parcel> parcel);
  void release(Partner& to);
  void ask_number(Partner& to);
  void receive(int rank, Partner& from, int tag, std::span<std::byte> into, bool copied,
               const Ticket& ticket);
  void accumulate_apart(const Place& to, const Combination& how, std::span<const std::byte> data,
                        const std::shared_ptr<void>& keep, const Ticket& ticket);
  void accumulate_parts(const Place& to, const Combination& how, std::span<const std::byte> data,
                        std::span<std::byte> before, const Ticket& ticket);

  // Target.
  bool run(int rank, Partner& from, RecordReader& in);
  Step execute(int rank, Partner& from, RecordReader& in);
  Step define_map(Partner& from, RecordReader& in);
  Step put(int rank, Partner& from, RecordReader& in);
  Step put_apart(int rank, Partner& from, RecordReader& in);
  Step get(int rank, Partner& from, RecordReader& in);
  Step accumulate(int rank, Partner& from, RecordReader& in);
  Step accumulate_apart(Partner& from, RecordReader& in);
  bool take_data(Partner& from, std::span<const std::byte> data);
  bool compute(Partner& from, const Area& area, const Combination& how,
               std::span<const std::byte> data, std::vector<std::byte>& before);
  Step compare(int rank, Partner& from, RecordReader& in);
  Step unlock(int rank, Partner& from, RecordReader& in);
  std::byte* find_pieces(const Area& area, const core::TypeMap& map) const;
  bool resolve(Partner& from, const Area& area, const Element* element, Target& target);
  void answer(int rank, int tag, std::vector<std::byte> bytes);
  void tell(int rank, std::vector<std::byte> records);
  void tell_done(int rank, Partner& to, std::uint64_t number);
  void resume_all();

  core::Engine& engine_;
  const WindowConfig config_;
  Memory memory_;
  Locks locks_;
  std::unordered_map<int, std::unique_ptr<Partner>> partners_;
  std::map<int, LockType> asked_;  // locks of others' that have not been given back
  std::deque<int> resumable_;
  bool running_ = false, broken_ = false;
  std::atomic<bool> settled_{true};
  std::uint32_t tags_ = 1;
  std::uint64_t lent_ = 0;
  std::set<std::uint64_t> lending_;  // of them, those under way
  std::size_t under_way_ = 0;        // operations of the engine's
};

}  // namespace isthmus::rma
