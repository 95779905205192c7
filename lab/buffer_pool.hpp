// Memory for frames: recycled, in a few sizes, bounded as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace isthmus::lab {

/// The largest frame: a virtio header and an IP packet.
constexpr std::size_t kMaxFrame = 65536 + 64;

class BufferPool {
 public:
  struct Return {
    BufferPool* pool = nullptr;
    std::size_t size_class = 0;
    void operator()(std::byte* memory) const { pool->take_back(memory, size_class); }
  };
  /// Goes back to its pool, which must outlive it.
  using Buffer = std::unique_ptr<std::byte, Return>;

  explicit BufferPool(std::size_t limit) : limit_(limit) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  /// At least `size` bytes, at most kMaxFrame; null when the limit is reached.
  Buffer get(std::size_t size);

  /// Bytes lent out, counted as the room that they take.
  std::size_t in_use() const { return in_use_; }

 private:
  static constexpr std::array<std::size_t, 3> kSizes{2048, 16384, kMaxFrame};

  void take_back(std::byte* memory, std::size_t size_class);

  std::size_t limit_;
  std::size_t in_use_ = 0;
  std::array<std::vector<std::byte*>, kSizes.size()> free_;
};

}  // namespace isthmus::lab
