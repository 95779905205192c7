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
  /// Of smaller frames nothing is kept: the allocator holds on to what they take.
  static constexpr std::size_t kLeast = kBlock / 4;

  /// Keeps at most so many blocks that nobody uses.
  explicit FrameMemory(std::size_t most) : most_(most) {}
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

  /// Blocks that nobody uses.
  std::size_t kept() const;

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::vector<std::byte*> free_;
};

/// Of all frames of this process.
FrameMemory& frame_memory();

}  // namespace isthmus::core
