#include "core/wire/frame_memory.hpp"

#include "core/base/address_sanitizer.hpp"

namespace isthmus::core {
namespace {

// 4 MiB, for the bytes under way to a near peer; and the fine frames of two messages.
constexpr std::size_t kMostKept = kAddressSanitizer ? 0 : 64;
constexpr std::size_t kMostFine = kAddressSanitizer ? 0 : 32;

// Never destroyed: frames may be let go while the process ends.
FrameMemory& of_large() {
  static auto& memory = *new FrameMemory(kMostKept);
  return memory;
}

FrameMemory& of_fine() {
  static auto& memory = *new FrameMemory(kMostFine, FrameMemory::kFineBlock);
  return memory;
}

}  // namespace

FrameMemory::~FrameMemory() {
  for (std::byte* const memory : free_) delete[] memory;
}

void FrameMemory::Return::operator()(std::byte* memory) const {
  if (owner != nullptr) {
    const Lock lock(owner->mutex_);
    if (owner->free_.size() < owner->most_) return owner->free_.push_back(memory);
  }
  delete[] memory;
}

FrameMemory::Block FrameMemory::take(std::size_t size) {
  if (size < least() || size > block_) return Block(new std::byte[size]);
  {
    const Lock lock(mutex_);
    if (!free_.empty()) {
      std::byte* const memory = free_.back();  // the one that caches still have
      free_.pop_back();
      return {memory, {this}};
    }
    free_.reserve(most_);  // so that giving back needs no allocation
  }
  return {new std::byte[block_], {this}};
}

std::size_t FrameMemory::kept() const {
  const Lock lock(mutex_);
  return free_.size();
}

void FrameMemory::keep(std::size_t most) {
  const Lock lock(mutex_);
  most_ = most;
}

FrameMemory& frame_memory(std::size_t size) {
  return size > FrameMemory::kFineBlock ? of_large() : of_fine();
}

void keep_frame_memory(std::size_t bytes) {
  if (kMostKept == 0) return;
  // A message of 1 MiB has 12 fine frames, in an eighth of its bytes.
  of_fine().keep(bytes / 8 / FrameMemory::kFineBlock);
  of_large().keep(bytes / 8 * 7 / FrameMemory::kBlock);
}

}  // namespace isthmus::core
