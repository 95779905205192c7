#include "mpi/profile/thread.hpp"

#include <deque>
#include <tuple>

#include "mpi/native/entry.hpp"

namespace isthmus::face::profile {

constinit thread_local Thread* mine = nullptr;

namespace {

struct Threads {
  core::Mutex mutex;
  std::deque<Thread> all GUARDED_BY(mutex);
  std::vector<Thread*> idle GUARDED_BY(mutex);
};
// Never destroyed: MPI may be called from static destructors.
Threads& threads() {
  static Threads& one = *new Threads;
  return one;
}

/// One for each thread: hands its Thread on when it ends.
struct Lease {
  Thread* thread = nullptr;
  ~Lease() {
    if (thread == nullptr) return;
    mine = nullptr;
    told_whence = nullptr;
    const core::Lock lock(threads().mutex);
    threads().idle.push_back(thread);
  }
};

std::uint64_t size_by_library(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return 0;
  const Inside inside;
  MPI_Count size = 0;
  native.Type_size_x(type, &size);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

}  // namespace

void begin_thread() {
  // The native library has come back on a thread of Isthmus's own: that is always in a call.
  static Thread& others = *new Thread;
  if (inner_call()) {
    others.function = kOther;
    mine = &others;
    return;
  }
  static thread_local Lease lease;
  const core::Lock lock(threads().mutex);
  if (threads().idle.empty()) {
    mine = &threads().all.emplace_back();
  } else {
    mine = threads().idle.back();
    threads().idle.pop_back();
  }
  lease.thread = mine;
  told_whence = &mine->whence;
}

void each_thread(const std::function<void(Thread&)>& use) {
  const core::Lock lock(threads().mutex);
  for (Thread& thread : threads().all) use(thread);
}

void Thread::refresh() {
  if (!stale()) return;
  seen_ = generation.load(std::memory_order_acquire);
  last_ = {};
  comms_.fill({});
  windows_.fill({});
  types_.fill({});
}

void Thread::look_up_both(MPI_Comm comm_, MPI_Datatype type) {
  const std::uint64_t type_size = size_of(type);
  Slot& slot = comms_[slot_of(key(comm_))];
  if (stale() || slot.handle != key(comm_)) look_up(slot, comm_);
  last_ = {.comm = key(comm_),
           .type = key(type),
           .rows = slot.rows,
           .type_size = type_size,
           .size = slot.size};
}

void Thread::enter(Slot& slot, std::uintptr_t handle, MembersRef members) {
  slot = {.handle = handle};
  if (!members) return;
  if (pointed_ + members->world.size() > kMostPointers || pointers_.size() >= kMostSeen) {
    last_ = {};
    comms_.fill({});
    windows_.fill({});
    pointers_.clear();
    pointed_ = 0;
    slot.handle = handle;
  }
  const Members* const of = members.get();
  Seen& seen = pointers_[of];
  if (!seen.members) {
    pointed_ += of->world.size();
    seen.rows.resize(of->world.size());
    seen.members = std::move(members);
  }
  slot.rows = seen.rows.data();
  slot.world = of->world.data();
  slot.size = static_cast<unsigned>(of->world.size());
}

void Thread::look_up(Slot& slot, MPI_Comm comm_) {
  refresh();
  enter(slot, key(comm_), members_of(comm_));
}

void Thread::look_up_window(Slot& slot, MPI_Win window) {
  refresh();
  enter(slot, key(window), members_of_window(window));
}

void Thread::look_up_type(TypeSlot& slot, MPI_Datatype type) {
  refresh();
  slot = {.handle = key(type), .size = size_by_library(type)};
}

Sizes* Thread::find_row(Slot& slot, unsigned rank, Rows& rows) {
  Sizes& found = rows.of(slot.world[rank]);
  slot.rows[rank] = &found;
  return &found;
}

Calls& Thread::calls(unsigned collective, const MembersRef& members) {
  std::pair<unsigned, const Members*> which{collective, members.get()};
  if (const auto found = collectives_.find(which); found != collectives_.end()) {
    return found->second.second;
  }
  const core::Lock lock(collectives_mutex_);
  const bool full = collectives_.size() >= kMostCalls;
  if (full) which.second = nullptr;
  const auto [at, _] =
      collectives_.emplace(std::piecewise_construct, std::forward_as_tuple(which),
                           std::forward_as_tuple(std::piecewise_construct,
                                                 std::forward_as_tuple(full ? nullptr : members),
                                                 std::forward_as_tuple()));
  return at->second.second;
}

void Thread::each_collective(
    const std::function<void(unsigned, const Members*, const Calls&)>& use) const {
  const core::Lock lock(collectives_mutex_);
  for (const auto& [which, calls_] : collectives_) {
    use(which.first, which.second, calls_.second);
  }
}

}  // namespace isthmus::face::profile
