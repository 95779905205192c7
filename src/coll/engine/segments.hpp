// A message cut into segments of equal size, the last one shorter: how pipelined algorithms see it.
#pragma once

#include <algorithm>
#include <cstddef>

namespace isthmus::coll {

class Segments {
 public:
  Segments(std::size_t bytes, std::size_t segment)
      : bytes_(bytes), segment_(std::max<std::size_t>(segment, 1)) {}
  std::size_t count() const { return (bytes_ + segment_ - 1) / segment_; }
  std::size_t offset(std::size_t k) const { return k * segment_; }
  std::size_t size(std::size_t k) const { return std::min(segment_, bytes_ - offset(k)); }
  template <class Span>
  Span of(Span message, std::size_t k) const {
    return message.subspan(offset(k), size(k));
  }

 private:
  std::size_t bytes_, segment_;
};

}  // namespace isthmus::coll
