#include "mpi/native/pinned_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/kept_memory.hpp"

namespace isthmus::face {
namespace {

// To pin memory takes a driver longer than to copy through memory that is not.
constexpr std::size_t kLeast = std::size_t{64} * 1024;

// Four sizes between two powers of two, so that blocks serve messages of other sizes, too.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max(kLeast, std::bit_floor(bytes) / 4);
  return (bytes + step - 1) / step * step;
}

}  // namespace

void PinnedPool::GiveBack::operator()(std::byte* memory) const {
  if (pool != nullptr) {
    pool->give_back(memory);
  } else {
    core::kept_memory().give({std::unique_ptr<std::byte[]>(memory), plain});
  }
}

PinnedPool::Memory PinnedPool::plain(std::size_t bytes) {
  core::MemoryBlock block = core::kept_memory().take(bytes);
  return Memory(block.bytes.release(), GiveBack{.plain = block.size});
}

PinnedPool::~PinnedPool() {
  const core::Lock lock(mutex_);
  for (Block& block : blocks_) destroy(block);
}

PinnedPool::Memory PinnedPool::take(std::size_t bytes, const Pin& pin) {
  if (bytes < kLeast) return plain(bytes);
  const std::size_t size = rounded(bytes);
  std::vector<Block> evicted;
  bool reserved = false;
  {
    const core::Lock lock(mutex_);
    if (std::byte* const memory = reuse(bytes)) return Memory(memory, GiveBack{this});
    reserved = reserve(size, evicted);
  }
  for (Block& block : evicted) destroy(block);
  std::byte* const memory = reserved ? grow(size, pin) : nullptr;
  return memory == nullptr ? plain(bytes) : Memory(memory, GiveBack{this});
}

std::size_t PinnedPool::pinned() const {
  const core::Lock lock(mutex_);
  return pinned_;
}

// The smallest free block that is large enough, unless most of it would lie idle.
std::byte* PinnedPool::reuse(std::size_t bytes) {
  constexpr std::size_t kMostWaste = 4;
  Block* best = nullptr;
  for (Block& block : blocks_) {
    if (block.used || block.size < bytes || block.size / kMostWaste > bytes) continue;
    if (best == nullptr || block.size < best->size) best = &block;
  }
  if (best == nullptr) return nullptr;
  best->used = true;
  return best->memory;
}

// Blocks that nobody has used for the longest time make room, if there can be enough.
bool PinnedPool::reserve(std::size_t bytes, std::vector<Block>& evicted) {
  std::size_t room = most_ - pinned_;
  for (const Block& block : blocks_) room += block.used ? 0 : block.size;
  if (room < bytes) return false;
  for (auto block = blocks_.begin(); most_ - pinned_ < bytes;) {
    if (block->used) {
      ++block;
      continue;
    }
    pinned_ -= block->size;
    evicted.push_back(std::move(*block));
    block = blocks_.erase(block);
  }
  pinned_ += bytes;
  return true;
}

// What has been reserved.
std::byte* PinnedPool::grow(std::size_t bytes, const Pin& pin) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool mapped = memory != MAP_FAILED;
  Block block;
  block.memory = static_cast<std::byte*>(memory);
  block.size = bytes;
  block.used = true;
  if (mapped) block.pinned = pin(block.memory, bytes);
  if (block.pinned != nullptr) {
    const core::Lock lock(mutex_);
    blocks_.push_back(std::move(block));
    return static_cast<std::byte*>(memory);
  }
  if (mapped) destroy(block);
  const core::Lock lock(mutex_);
  pinned_ -= bytes;
  if (mapped) most_ = std::min(most_, pinned_);  // the driver is not asked again
  return nullptr;
}

void PinnedPool::give_back(const std::byte* memory) {
  const core::Lock lock(mutex_);
  const auto block = std::ranges::find(blocks_, memory, &Block::memory);
  block->used = false;
  std::rotate(block, block + 1, blocks_.end());
}

void PinnedPool::destroy(Block& block) {
  block.pinned.reset();
  ::munmap(block.memory, block.size);
}

}  // namespace isthmus::face
