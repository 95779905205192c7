// Whether a type map is one gapless run of memory in order, worked out from the datatype's
// construction. Size and extents are not enough: {(int, 4), (int, 0)} has no gap, but its order is
// not that of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace isthmus::face {

/// The parts of a type map that matter here.
struct Shape {
  bool run = false;         ///< one gapless run, in order (empty maps are, too)
  std::int64_t lower = 0;   ///< true lower bound of the run
  std::int64_t size = 0;    ///< bytes of data
  std::int64_t extent = 0;  ///< distance to the next element
  /// A predefined datatype in the map whose elements are made of `long double`, or null.
  const char* long_double = nullptr;

  /// True when `count` elements in a row are one run.
  bool run_of(std::int64_t count) const {
    return run && (size == 0 || count <= 1 || extent == size);
  }
};

/// `count` blocks of `block` elements each, `stride` bytes apart.
Shape vector_shape(const Shape& element, std::int64_t count, std::int64_t block,
                   std::int64_t stride);

/// Appends blocks one after the other, as MPI_Type_create_struct and its kin do.
class ShapeBuilder {
 public:
  void add(const Shape& element, std::int64_t block, std::int64_t displacement);
  Shape shape() const { return shape_; }

 private:
  Shape shape_{.run = true};
  bool empty_ = true;
};

/// A block of a larger array; `c_order` when the last dimension is the fastest.
Shape subarray_shape(const Shape& element, std::span<const int> sizes,
                     std::span<const int> subsizes, std::span<const int> starts, bool c_order);

}  // namespace isthmus::face
