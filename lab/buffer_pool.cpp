#include "lab/buffer_pool.hpp"

namespace isthmus::lab {

BufferPool::~BufferPool() {
  for (const auto& list : free_) {
    for (std::byte* memory : list) delete[] memory;
  }
}

BufferPool::Buffer BufferPool::get(std::size_t size) {
  std::size_t size_class = 0;
  while (size_class < kSizes.size() && kSizes[size_class] < size) ++size_class;
  const Return back{this, size_class};
  if (size_class == kSizes.size() || in_use_ + kSizes[size_class] > limit_) return {nullptr, back};
  in_use_ += kSizes[size_class];
  auto& list = free_[size_class];
  if (list.empty()) return {new std::byte[kSizes[size_class]], back};
  std::byte* memory = list.back();  // the last one used: still in the cache
  list.pop_back();
  return {memory, back};
}

void BufferPool::take_back(std::byte* memory, std::size_t size_class) {
  in_use_ -= kSizes[size_class];
  free_[size_class].push_back(memory);
}

}  // namespace isthmus::lab
