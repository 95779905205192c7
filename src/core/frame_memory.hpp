// Memory of large frames, kept for those that follow. The allocator would give it back to the
// system after each message and get it anew, a page fault for every 4 KiB: 1 MiB by plain TCP took
// 550 us one way so, and 400 without the faults (two cores, November 2026). On any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/frame.hpp"
#include "core/wire.hpp"

namespace isthmus::core {

class FrameMemory {
 public:
  /// Of any frame.
  static constexpr std::size_t kBlock = kHeaderSize + kMaxBody;
  /// Of those at the beginning and the end of a message (core/outbound.cpp).
  static constexpr std::size_t kFineBlock = std::size_t{12} * 1024;

  /// Keeps at most so many blocks that nobody uses, of so many bytes each.
  explicit FrameMemory(std::size_t most, std::size_t block = kBlock) : most_(most), block_(block) {}
  FrameMemory(const FrameMemory&) = delete;
  FrameMemory& operator=(const FrameMemory&) = delete;
  ~FrameMemory();

  /// Gives memory back to where it came from.
  struct Return {
    FrameMemory* owner = nullptr;  ///< null: of the allocator
    void operator()(std::byte* memory) const;
  };
  using Block = std::unique_ptr<std::byte[], Return>;

  /// At least so many bytes, with whatever they hold. It outlives what it hands out.
  Block take(std::size_t size);
  /// Of less, and of more than a block, nothing is kept: the allocator holds on to what is small.
  std::size_t least() const { return block_ / 4; }
  /// From now on.
  void keep(std::size_t most);

  /// Blocks that nobody uses.
  std::size_t kept() const;

 private:
  std::size_t most_;
  const std::size_t block_;
  mutable std::mutex mutex_;
  std::vector<std::byte*> free_;
};

/// Of frames of that size in this process.
FrameMemory& frame_memory(std::size_t size);
/// Frames of which so many bytes are under way come and go: their memory is kept for the next.
void keep_frame_memory(std::size_t bytes);

}  // namespace isthmus::core
