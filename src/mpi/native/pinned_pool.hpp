// Memory of the host for bytes on their way from and to a GPU, pinned by its driver. It is kept and
// used again, within a bound. All other memory for them is plain, and kept by the process.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/mutex.hpp"
#include "mpi/native/gpu.hpp"

namespace isthmus::face {

class PinnedPool {
 public:
  using Pin = std::function<std::unique_ptr<Pinned>(std::byte* memory, std::size_t bytes)>;
  struct GiveBack {
    PinnedPool* pool = nullptr;  ///< null: plain memory
    std::size_t plain = 0;       ///< its size
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte[], GiveBack>;

  /// `most`: the number of bytes that it may pin. It outlives its memory.
  explicit PinnedPool(std::size_t most) : most_(most) {}
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// Uninitialized. `pin` is called if the pool must grow for it. Throws std::bad_alloc.
  Memory take(std::size_t bytes, const Pin& pin);
  /// Plain memory, uninitialized. Throws std::bad_alloc.
  static Memory plain(std::size_t bytes);

  /// Bytes that are pinned or about to be, in use or not.
  std::size_t pinned() const;

 private:
  struct Block {
    std::byte* memory = nullptr;
    std::size_t size = 0;
    std::unique_ptr<Pinned> pinned;
    bool used = false;
  };
  void give_back(const std::byte* memory);
  std::byte* reuse(std::size_t bytes) REQUIRES(mutex_);
  bool reserve(std::size_t bytes, std::vector<Block>& evicted) REQUIRES(mutex_);
  std::byte* grow(std::size_t bytes, const Pin& pin);
  static void destroy(Block& block);

  // Never held in a call of the driver: the engine's lock may be held to give back, and the driver
  // may wait for who wants that.
  mutable core::Mutex mutex_;
  std::size_t most_ GUARDED_BY(mutex_);
  std::size_t pinned_ GUARDED_BY(mutex_) = 0;
  std::vector<Block> blocks_ GUARDED_BY(mutex_);  // used last comes last
};

}  // namespace isthmus::face
