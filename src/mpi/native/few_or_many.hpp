// An array that usually has few elements: those lie within it, many on the heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace isthmus::face {

template <class T, std::size_t kFew = 8>
class FewOrMany {
 public:
  /// `max`: as many as there will ever be.
  void add(const T& element, std::size_t max) {
    if (size_ == kFew && !many_) {
      many_ = std::make_unique_for_overwrite<T[]>(max);
      std::copy(few_.begin(), few_.end(), many_.get());
    }
    data()[size_++] = element;
  }
  std::span<T> all() { return {data(), size_}; }
  bool empty() const { return size_ == 0; }
  void shrink(std::size_t size) { size_ = size; }

 private:
  T* data() { return many_ ? many_.get() : few_.data(); }

  std::array<T, kFew> few_;
  std::unique_ptr<T[]> many_;
  std::size_t size_ = 0;
};

}  // namespace isthmus::face
