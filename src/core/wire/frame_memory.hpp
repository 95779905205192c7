// Memory of large frames, kept for later frames. The allocator would give it back to the system
// after each message and get it anew, with a page fault for every 4 KiB. 1 MiB by plain TCP took
// 550 us one way in that case, and 400 without the faults (two cores, November 2026). On any
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/wire/frame.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

class FrameMemory {
 public:
  /// A block of this size holds any frame.
  static constexpr std::size_t kBlock = kHeaderSize + kMaxBody;
  /// The size for frames at the beginning and the end of a message (core/engine/outbound.cpp).
  static constexpr std::size_t kFineBlock = std::size_t{12} * 1024;

  /// Keeps at most `most` unused blocks, of `block` bytes each.
  explicit FrameMemory(std::size_t most, std::size_t block = kBlock) : most_(most), block_(block) {}
  FrameMemory(const FrameMemory&) = delete;
  FrameMemory& operator=(const FrameMemory&) = delete;
  ~FrameMemory();

  /// Gives memory back to its owner.
  struct Return {
    FrameMemory* owner = nullptr;  ///< null: of the allocator
    void operator()(std::byte* memory) const;
  };
  using Block = std::unique_ptr<std::byte[], Return>;

  /// At least `size` bytes, with any content. It must outlive its blocks.
  Block take(std::size_t size);
  /// Smaller sizes, and more than a block, are not kept: the allocator keeps small memory itself.
  std::size_t least() const { return block_ / 4; }
  /// The limit from now on.
  void keep(std::size_t most);

  /// Unused blocks.
  std::size_t kept() const;

 private:
  std::size_t most_ GUARDED_BY(mutex_);
  const std::size_t block_;
  mutable Mutex mutex_;
  std::vector<std::byte*> free_ GUARDED_BY(mutex_);
};

/// The memory for frames of that size in this process.
FrameMemory& frame_memory(std::size_t size);
/// Keeps memory for frames, up to `bytes`: the bytes of frames under way at a time.
void keep_frame_memory(std::size_t bytes);

}  // namespace isthmus::core
