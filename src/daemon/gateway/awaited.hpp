// A value for a test's thread. For tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace isthmus::daemon {

using namespace std::chrono_literals;

/// A value that another thread brings. Bounded waits, far longer than anything needs.
template <class T>
class Awaited {
 public:
  void set(T value) {
    std::lock_guard lock(mutex_);
    if (!value_) value_ = std::move(value);
    changed_.notify_all();
  }
  T get() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 90s, [&] { return value_.has_value(); })) {
      ADD_FAILURE() << "nothing came within 90 s";
      return T{};
    }
    return *value_;
  }
  bool there() {
    std::lock_guard lock(mutex_);
    return value_.has_value();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
};

}  // namespace isthmus::daemon
