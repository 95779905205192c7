// The coroutine that a collective is written as, and the operations it awaits.
//
// An Operation is *hot*: creating it starts it. Awaiting it suspends until it is done. Nothing here
// blocks or sleeps; the caller that drives a Task calls step() until finished(). So one algorithm
// serves every form: blocking (drive to the end), non-blocking (drive from wait and test),
// persistent (make a new Task at each start).
//
// For authors: gcc 12 miscompiles some forms, mostly into double frees. Let co_await be a statement
// of its own, without a conditional expression or an initializer list anywhere in it (`co_await f(a
// ? b : T())` destroys twice). Pass coroutine arguments by value or as spans, never as references
// to temporaries.
#pragma once

#include <chrono>
#include <coroutine>
#include <exception>
#include <memory>
#include <utility>

namespace isthmus::coll {

/// Something under way. poll() is cheap, may make progress, and stays true once true.
/// Throws MpiError (party.hpp) when it can never finish.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool poll() = 0;
  /// Sleeps until poll() may have changed, if only this process's own cluster can cause that.
  /// False: it cannot, and has done nothing.
  virtual bool block() { return false; }
  /// The rank of this host that it waits for, in memory that poll() looks at. -1: it waits for
  /// something else.
  virtual int near() const { return -1; }
  /// If near() names a rank: sleeps until that rank ends the wait, for at most `limit`.
  virtual void nap(std::chrono::microseconds limit) { static_cast<void>(limit); }
};

/// Owns an operation; co_await it (as an lvalue or an rvalue) to wait for its end. An empty one
/// is done. Destroying one that is not done is an error of the algorithm, except on failure.
class Pending {
 public:
  Pending() = default;
  explicit Pending(std::unique_ptr<Operation> operation) : operation_(std::move(operation)) {}
  bool done() { return !operation_ || operation_->poll(); }
  bool block() { return operation_ && operation_->block(); }
  /// Null if empty.
  Operation* operation() const { return operation_.get(); }

  struct Awaiter {
    Pending& pending;
    std::exception_ptr failure = nullptr;
    bool await_ready() { return pending.done(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      handle.promise().wait_for(&pending, &failure);
    }
    void await_resume() {
      if (failure) std::rethrow_exception(failure);
    }
  };
  Awaiter operator co_await() & { return Awaiter{*this}; }
  Awaiter operator co_await() && { return Awaiter{*this}; }

 private:
  std::unique_ptr<Operation> operation_;
};

/// A collective under way. Starts suspended; each step() runs it as far as it can go now. A Task
/// may co_await another Task (a phase). An exception of an awaited operation or phase is thrown at
/// the co_await, so a failure unwinds like any exception.
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    Pending* waiting = nullptr;  // the operation that the coroutine is suspended on
    Task* child = nullptr;       // or a phase
    std::exception_ptr* awaiter_failure = nullptr;
    std::exception_ptr failure;

    void wait_for(Pending* pending, std::exception_ptr* thrown) {
      waiting = pending;
      awaiter_failure = thrown;
    }
    void wait_for(Task* task, std::exception_ptr* thrown) {
      child = task;
      awaiter_failure = thrown;
    }
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { reset(); }

  bool finished() const { return !handle_ || handle_.done(); }

  /// Runs as far as possible without waiting. True when finished. Rethrows what the collective
  /// threw (then it is finished).
  bool step();
  /// After a step: blocks in the one operation that the next step needs (Operation::block).
  bool block();
  /// After a step: the one operation that the next step needs, or null.
  Operation* awaited() const;

  struct Awaiter {
    Task& task;
    std::exception_ptr failure = nullptr;
    bool await_ready() { return task.step(); }
    void await_suspend(Handle handle) { handle.promise().wait_for(&task, &failure); }
    void await_resume() {
      if (failure) std::rethrow_exception(failure);
    }
  };
  Awaiter operator co_await() & { return Awaiter{*this}; }
  Awaiter operator co_await() && { return Awaiter{*this}; }

 private:
  void reset() {
    if (handle_) std::exchange(handle_, {}).destroy();
  }
  Handle handle_;
};

}  // namespace isthmus::coll
