// Used by the generated wrappers (tools/generate/profile_wrappers.py) around a call. A function is
// a number, its place in kFunctionNames; 0 stands for no function. Calls from within a call are not
// the program's, and are not counted.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include "mpi/native/entry.hpp"
#include "mpi/profile/kept.hpp"
#include "mpi/profile/thread.hpp"

namespace isthmus::face::profile {

/// Generated.
extern const char* const kFunctionNames[];

template <class Count>
std::uint64_t bytes_of(Thread& thread, Count count, MPI_Datatype type) {
  return count > 0 ? static_cast<std::uint64_t>(count) * thread.size_of(type) : 0;
}

/// While it lives, the thread is in a call. It has been begun.
class Call {
 public:
  [[gnu::always_inline]] explicit Call(unsigned function, MPI_Comm comm = MPI_COMM_NULL,
                                       int peer = kNoPeer)
      : thread_(mine->function.load(std::memory_order_relaxed) == 0 ? mine : nullptr) {
    if (thread_ == nullptr) [[unlikely]]
      return;
    thread_->comm.store(comm, std::memory_order_relaxed);
    thread_->peer.store(peer, std::memory_order_relaxed);
    thread_->function.store(function, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] ~Call() {
    if (thread_ != nullptr) [[likely]]
      thread_->function.store(0, std::memory_order_relaxed);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool counts() const { return thread_ != nullptr; }
  template <class Count>
  std::uint64_t bytes(Count count, MPI_Datatype type) const {
    return thread_ != nullptr ? bytes_of(*thread_, count, type) : 0;
  }
  /// To the peer of this call, on its communicator.
  template <class Count>
  [[gnu::always_inline]] void sent(Count count, MPI_Datatype type) const {
    if (thread_ == nullptr) [[unlikely]]
      return;
    thread_->send(thread_->comm.load(std::memory_order_relaxed),
                  thread_->peer.load(std::memory_order_relaxed), count, type);
  }
  template <class Count>
  void sent(MPI_Comm comm, int destination, Count count, MPI_Datatype type) const {
    if (thread_ != nullptr) thread_->send(comm, destination, count, type);
  }
  /// Bytes moved by an operation on a window.
  void moved(MPI_Win window, int target, std::uint64_t size) const {
    thread_->reach(window, target, size);
  }
  void read(std::uint64_t size) const { in_file(thread_->files.read, size); }
  void written(std::uint64_t size) const { in_file(thread_->files.written, size); }
  /// Starts of persistent requests, whose data counts then.
  void started(MPI_Request request) const {
    if (thread_ != nullptr) start_kept(*thread_, request);
  }
  template <class Count>
  void started(Count count, const MPI_Request* requests) const {
    for (Count i = 0; i < count; ++i) started(requests[i]);
  }

 protected:
  Thread& thread() const { return *thread_; }

 private:
  void in_file(std::atomic<std::uint64_t>& sum, std::uint64_t size) const {
    add(sum, size);
    add(thread_->files.calls, 1);
  }
  Thread* const thread_;
};

/// Bytes of an array of counts, with one type or one for each.
template <class Count>
std::uint64_t bytes_of_all(const Call& call, const Count* counts, MPI_Datatype type,
                           std::uint64_t blocks) {
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) all += call.bytes(counts[i], type);
  return all;
}
template <class Count>
std::uint64_t bytes_of_all(const Call& call, const Count* counts, const MPI_Datatype* types,
                           std::uint64_t blocks) {
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) all += call.bytes(counts[i], types[i]);
  return all;
}

/// A collective: its call is counted with this member's data, and timed.
class Collective : public Call {
 public:
  Collective(unsigned function, MPI_Comm comm)
      : Call(function, comm),
        function_(function),
        members_(counts() ? members_of(comm) : nullptr),
        begun_(std::chrono::steady_clock::now()) {}
  ~Collective() {
    if (calls_ == nullptr) return;
    const auto took = std::chrono::steady_clock::now() - begun_;
    add(calls_->nanoseconds, static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
  }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  /// Null: the call is not counted.
  const Members* members() const { return members_.get(); }
  void gives(std::uint64_t size) {
    calls_ = &thread().calls(function_, members_);
    calls_->given.count(size);
  }
  /// A message of a neighbourhood collective.
  void sent_to_world(int world_rank, std::uint64_t size) const {
    if (world_rank != MPI_PROC_NULL) thread().to_world(world_rank).count(size);
  }

 private:
  unsigned function_;
  MembersRef members_;
  Calls* calls_ = nullptr;
  std::chrono::steady_clock::time_point begun_;
};

/// The making of a persistent request: its data counts when it is started.
class Keeping : public Call {
 public:
  explicit Keeping(unsigned function, MPI_Comm comm)
      : Call(function), function_(function), members_(counts() ? members_of(comm) : nullptr) {}
  const Members* members() const { return members_.get(); }
  template <class Count>
  void sent(MPI_Comm, int destination, Count count, MPI_Datatype type) {
    const auto at = static_cast<std::size_t>(destination);
    if (destination < 0 || at >= members_->world.size()) return;
    sent_to_world(members_->world[at], bytes(count, type));
  }
  void gives(std::uint64_t size) {
    kept_.collective = function_;
    kept_.members = members_;
    kept_.given = size;
  }
  void sent_to_world(int world_rank, std::uint64_t size) {
    if (world_rank != MPI_PROC_NULL) kept_.messages.push_back({world_rank, size});
  }
  /// When the request has been made.
  void made(MPI_Request request) {
    if (counts()) keep(request, std::move(kept_));
  }

 private:
  unsigned function_;
  MembersRef members_;
  Kept kept_;
};

}  // namespace isthmus::face::profile
