// Mutexes that Clang checks. Data names the mutex that guards it. `make tidy` refuses a use without
// that mutex. The macros are those of Clang's manual ("Thread Safety Analysis"). For GCC they are
// empty.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#ifdef __clang__
#define ISTHMUS_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define ISTHMUS_THREAD_SAFETY(attribute)
#endif

/// For a class: its objects are mutexes, or hold one for as long as they live.
#define CAPABILITY(name) ISTHMUS_THREAD_SAFETY(capability(name))
#define SCOPED_CAPABILITY ISTHMUS_THREAD_SAFETY(scoped_lockable)
/// For data.
#define GUARDED_BY(mutex) ISTHMUS_THREAD_SAFETY(guarded_by(mutex))
/// For a function: its caller holds the mutex.
#define REQUIRES(...) ISTHMUS_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// For a function: it takes the mutex, gives it back, or takes it if
/// it returns the first argument.
#define ACQUIRE(...) ISTHMUS_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define RELEASE(...) ISTHMUS_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) ISTHMUS_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
/// For a function that Clang cannot follow; a comment says why.
#define NO_THREAD_SAFETY_ANALYSIS ISTHMUS_THREAD_SAFETY(no_thread_safety_analysis)

namespace isthmus::core {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { native_.lock(); }
  bool try_lock() TRY_ACQUIRE(true) { return native_.try_lock(); }
  void unlock() RELEASE() { native_.unlock(); }

 private:
  friend class Condition;
  std::mutex native_;
};

/// Holds a mutex, of any class with this annotation, until the end of its scope.
template <class Kind>
class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Kind& mutex) ACQUIRE(mutex) : held_(mutex) {}
  Lock(Kind& mutex, std::adopt_lock_t) REQUIRES(mutex) : held_(mutex, std::adopt_lock) {}
  ~Lock() RELEASE() {}  // NOLINT(modernize-use-equals-default): Clang takes no attribute there
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() ACQUIRE() { held_.lock(); }
  void unlock() RELEASE() { held_.unlock(); }

 private:
  friend class Condition;
  std::unique_lock<Kind> held_;
};

/// std::condition_variable. A predicate that reads guarded data has REQUIRES(the mutex).
class Condition {
 public:
  void notify_one() noexcept { native_.notify_one(); }
  void notify_all() noexcept { native_.notify_all(); }

  template <class Done>
  void wait(Lock<Mutex>& lock, Done done) {
    Held held(lock);
    native_.wait(held, std::move(done));
  }
  /// False: the time is over, and `done` still false.
  template <class Duration, class Done>
  bool wait_for(Lock<Mutex>& lock, Duration duration, Done done) {
    Held held(lock);
    return native_.wait_for(held, duration, std::move(done));
  }

 private:
  /// The lock as std::condition_variable wants it.
  struct Held : std::unique_lock<std::mutex> {
    explicit Held(Lock<Mutex>& lock)
        : std::unique_lock<std::mutex>(lock.held_.mutex()->native_, std::adopt_lock) {}
    ~Held() { release(); }
  };
  std::condition_variable native_;
};

}  // namespace isthmus::core
