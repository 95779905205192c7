#include "coll/engine/task.hpp"

namespace isthmus::coll {

bool Task::step() {
  if (!handle_) return true;
  auto& promise = handle_.promise();
  while (!handle_.done()) {
    try {
      if (promise.child != nullptr && !promise.child->step()) return false;
      if (promise.waiting != nullptr && !promise.waiting->done()) return false;
    } catch (...) {
      *promise.awaiter_failure = std::current_exception();
    }
    promise.child = nullptr;
    promise.waiting = nullptr;
    handle_.resume();
  }
  if (promise.failure) std::rethrow_exception(std::exchange(promise.failure, nullptr));
  return true;
}

bool Task::block() {
  if (finished()) return false;
  auto& promise = handle_.promise();
  if (promise.child != nullptr) return promise.child->block();
  return promise.waiting != nullptr && promise.waiting->block();
}

Operation* Task::awaited() const {
  if (finished()) return nullptr;
  const auto& promise = handle_.promise();
  if (promise.child != nullptr) return promise.child->awaited();
  return promise.waiting != nullptr ? promise.waiting->operation() : nullptr;
}

}  // namespace isthmus::coll
