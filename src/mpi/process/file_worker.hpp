// The thread for blocking work on files: one of this process's own, which calls no MPI.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>

namespace isthmus::face {

/// A piece of work and its outcome. Shared by the waiting thread and the one that does it.
class Job {
 public:
  explicit Job(std::function<void()> work) : work_(std::move(work)) {}
  /// Once.
  void run() noexcept;
  bool done() const { return done_.load(std::memory_order_acquire); }
  /// After done(): throws what the work threw.
  void check() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::function<void()> work_;
  std::exception_ptr failure_;
  std::atomic<bool> done_{false};
};
using JobRef = std::shared_ptr<Job>;

/// The worker does it, after all that it was given before. If the system refuses a thread for it,
/// the caller does it before this returns.
JobRef do_later(std::function<void()> work);

/// Starts a thread for `body` that gets no signals of the program and ends with the process. Throws
/// net::NoThread.
void start_helper(std::function<void()> body);

}  // namespace isthmus::face
