#include "mpi/native/handle_uses.hpp"

namespace isthmus::face {

void HandleUses::begin(std::uintptr_t handle) {
  const core::Lock lock(mutex_);
  ++uses_[handle].users;
  size_.store(uses_.size(), std::memory_order_relaxed);
}

bool HandleUses::end(std::uintptr_t handle) {
  const core::Lock lock(mutex_);
  const auto use = uses_.find(handle);
  if (--use->second.users > 0) return false;
  const bool freed = use->second.freed;
  uses_.erase(use);
  size_.store(uses_.size(), std::memory_order_relaxed);
  return freed;
}

bool HandleUses::put_off_free(std::uintptr_t handle) {
  if (size_.load(std::memory_order_relaxed) == 0) return false;
  const core::Lock lock(mutex_);
  const auto use = uses_.find(handle);
  if (use == uses_.end()) return false;
  use->second.freed = true;
  return true;
}

}  // namespace isthmus::face
