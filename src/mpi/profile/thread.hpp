// The record of one thread of the program: its place, for the sampler, and its counts.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/mutex.hpp"
#include "mpi/profile/members.hpp"
#include "mpi/profile/rows.hpp"
#include "mpi/request/whence.hpp"

namespace isthmus::face::profile {

/// Stands for a function that is not the program's.
constexpr unsigned kOther = ~0U;
/// Stands for a rank if the call concerns all members, or none.
constexpr int kNoPeer = -1'000'000;

/// Calls of a collective on one communicator.
struct Calls {
  Sizes given;
  std::atomic<std::uint64_t> nanoseconds{0};
};

/// What messages need stands in its first cache line, whatever that leaves empty.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class alignas(64) Thread {
 public:
  /// The call that the thread is in: `function` is written last of the three, and is 0 outside of
  /// MPI.
  std::atomic<unsigned> function{0};
  std::atomic<int> peer{kNoPeer};
  std::atomic<MPI_Comm> comm{MPI_COMM_NULL};

 private:
  static constexpr std::uintptr_t kNone = ~std::uintptr_t{0};
  // The last message's values.
  struct {
    std::uintptr_t comm = kNone, type = kNone;
    Sizes** rows = nullptr;
    std::uint64_t type_size = 0;
    unsigned size = 0;
  } last_;
  std::uint32_t seen_ = 0;

 public:
  /// A message. Some ns if the last one was of the same communicator and type.
  template <class Count>
  [[gnu::always_inline]] void send(MPI_Comm comm_, int rank, Count count, MPI_Datatype type) {
    if (last_.comm != key(comm_) || last_.type != key(type) || stale()) [[unlikely]] {
      look_up_both(comm_, type);
    }
    const auto i = static_cast<unsigned>(rank);
    if (i >= last_.size) [[unlikely]]
      return;  // MPI_PROC_NULL, or wrong
    Sizes* row = last_.rows[i];
    if (row == nullptr) [[unlikely]]
      row = find_row(comms_[slot_of(last_.comm)], i, messages_);
    row->count(count > 0 ? static_cast<std::uint64_t>(count) * last_.type_size : 0);
  }
  /// An operation on a window.
  void reach(MPI_Win window, int rank, std::uint64_t size) {
    Slot& slot = windows_[slot_of(key(window))];
    if (stale() || slot.handle != key(window)) [[unlikely]]
      look_up_window(slot, window);
    const auto i = static_cast<unsigned>(rank);
    if (i >= slot.size) [[unlikely]]
      return;
    Sizes* const row = slot.rows[i];
    (row != nullptr ? *row : *find_row(slot, i, operations_)).count(size);
  }
  std::uint64_t size_of(MPI_Datatype type) {
    TypeSlot& slot = types_[slot_of(key(type))];
    if (stale() || slot.handle != key(type)) [[unlikely]]
      look_up_type(slot, type);
    return slot.size;
  }
  /// The sizes for a world rank.
  Sizes& to_world(int world_rank) { return messages_.of(world_rank); }
  /// As Rows::of.
  Calls& calls(unsigned collective, const MembersRef& members) NO_THREAD_SAFETY_ANALYSIS;

  struct Files {
    std::atomic<std::uint64_t> read{0}, written{0}, calls{0};
  } files;

  /// The reason of its present wait, if that knows it.
  std::atomic<Whence> whence{Whence::Unknown};

  const Rows& messages() const { return messages_; }
  const Rows& operations() const { return operations_; }
  /// On any thread.
  void each_collective(
      const std::function<void(unsigned function, const Members*, const Calls&)>& use) const;

 private:
  static constexpr std::size_t kSlots = 8;
  // The number of collectives on communicators with their own sums, half a kilobyte each.
  static constexpr std::size_t kMostCalls = 1024;
  // The number of pointers to rows that are kept for quick access: 8 MiB.
  static constexpr std::size_t kMostPointers = std::size_t{1} << 20;
  static constexpr std::size_t kMostSeen = 1024;  // communicators and windows that they are of

  struct Slot {
    std::uintptr_t handle = kNone;
    Sizes** rows = nullptr;
    const int* world = nullptr;
    unsigned size = 0;
  };
  struct TypeSlot {
    std::uintptr_t handle = kNone;
    std::uint64_t size = 0;
  };
  struct Seen {
    MembersRef members;
    std::vector<Sizes*> rows;
  };
  static std::size_t slot_of(std::uintptr_t handle) {
    return static_cast<std::size_t>((handle * 0x9E37'79B9'7F4A'7C15ULL) >> 61);
  }
  bool stale() const { return seen_ != generation.load(std::memory_order_relaxed); }
  [[gnu::noinline]] static Sizes* find_row(Slot& slot, unsigned rank, Rows& rows);
  [[gnu::noinline]] void look_up_both(MPI_Comm comm_, MPI_Datatype type);
  void look_up(Slot& slot, MPI_Comm comm_);
  void look_up_window(Slot& slot, MPI_Win window);
  void look_up_type(TypeSlot& slot, MPI_Datatype type);
  void enter(Slot& slot, std::uintptr_t handle, MembersRef members);
  void refresh();

  std::array<Slot, kSlots> comms_, windows_;
  std::array<TypeSlot, kSlots> types_;
  std::unordered_map<const Members*, Seen> pointers_;
  std::size_t pointed_ = 0;
  Rows messages_, operations_;
  mutable core::Mutex collectives_mutex_;  // while the table changes or another thread reads it
  std::map<std::pair<unsigned, const Members*>, std::pair<MembersRef, Calls>> collectives_
      GUARDED_BY(collectives_mutex_);
};

/// That of the calling thread, once it has been begun. It lasts as long as the process; one whose
/// thread has ended goes to the next that begins.
extern constinit thread_local Thread* mine __attribute__((tls_model("initial-exec")));
void begin_thread();

void each_thread(const std::function<void(Thread&)>& use);

}  // namespace isthmus::face::profile
