#include "core/frame_memory.hpp"

namespace isthmus::core {
namespace {

// 4 MiB: what is under way to a near peer.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMostKept = 0;  // who uses freed memory is to be found
#else
constexpr std::size_t kMostKept = 64;
#endif

}  // namespace

FrameMemory::~FrameMemory() {
  for (std::byte* const memory : free_) delete[] memory;
}

void FrameMemory::Return::operator()(std::byte* memory) const {
  if (owner != nullptr) {
    const std::lock_guard lock(owner->mutex_);
    if (owner->free_.size() < owner->most_) return owner->free_.push_back(memory);
  }
  delete[] memory;
}

FrameMemory::Block FrameMemory::take(std::size_t size) {
  if (size < kLeast || size > kBlock) return Block(new std::byte[size]);
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::byte* const memory = free_.back();  // the one that caches still have
      free_.pop_back();
      return {memory, {this}};
    }
    free_.reserve(most_);  // giving back allocates nothing
  }
  return {new std::byte[kBlock], {this}};
}

std::size_t FrameMemory::kept() const {
  const std::lock_guard lock(mutex_);
  return free_.size();
}

// Never destroyed: frames may be let go while the process ends.
FrameMemory& frame_memory() {
  static auto& memory = *new FrameMemory(kMostKept);
  return memory;
}

}  // namespace isthmus::core
