#include "coll/task.hpp"

namespace isthmus::coll {

bool Task::step() {
  if (!handle_) return true;
  auto& promise = handle_.promise();
  while (!handle_.done()) {
    try {
      if (promise.child != nullptr) {
        if (!promise.child->step()) return false;
        promise.child = nullptr;
      }
      if (promise.waiting != nullptr) {
        if (!promise.waiting->done()) return false;
        promise.waiting = nullptr;
      }
    } catch (...) {
      promise.failure = std::current_exception();
      auto failure = promise.failure;
      reset();
      std::rethrow_exception(failure);
    }
    handle_.resume();
  }
  if (promise.failure) std::rethrow_exception(std::exchange(promise.failure, nullptr));
  return true;
}

}  // namespace isthmus::coll
