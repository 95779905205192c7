// Handles of the program that work under way still needs: MPI lets the program free them meanwhile,
// and the free is put off until the last user has done.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>

#include "core/base/mutex.hpp"

namespace isthmus::face {

/// The uses of one kind of handle, by key(). From any thread.
class HandleUses {
 public:
  void begin(std::uintptr_t handle);
  /// True when that was the last use of a handle whose free was put off: the caller frees it.
  bool end(std::uintptr_t handle);
  /// For MPI_Type_free and its like. False: the handle is not in use.
  bool put_off_free(std::uintptr_t handle);

 private:
  struct Use {
    int users = 0;
    bool freed = false;
  };
  core::Mutex mutex_;
  std::unordered_map<std::uintptr_t, Use> uses_ GUARDED_BY(mutex_);
  std::atomic<std::size_t> size_{0};  // so that frees need no lock while no handle is in use
};

}  // namespace isthmus::face
