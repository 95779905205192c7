#include "mpi/datatype/type_shape.hpp"

namespace isthmus::face {

Shape vector_shape(const Shape& element, std::int64_t count, std::int64_t block,
                   std::int64_t stride) {
  Shape shape{.lower = element.lower,
              .size = element.size * block * count,
              .long_double = element.long_double};
  if (shape.size == 0) return {.run = true};
  shape.run = element.run_of(block) && (count <= 1 || stride == element.size * block);
  return shape;
}

void ShapeBuilder::add(const Shape& element, std::int64_t block, std::int64_t displacement) {
  const std::int64_t bytes = element.size * block;
  if (bytes == 0) return;
  const std::int64_t lower = displacement + element.lower;
  if (empty_) {
    empty_ = false;
    shape_.lower = lower;
    shape_.run = element.run_of(block);
  } else {
    shape_.run = shape_.run && element.run_of(block) && lower == shape_.lower + shape_.size;
  }
  shape_.size += bytes;
  if (shape_.long_double == nullptr) shape_.long_double = element.long_double;
}

Shape subarray_shape(const Shape& element, std::span<const int> sizes,
                     std::span<const int> subsizes, std::span<const int> starts, bool c_order) {
  const std::size_t n = sizes.size();
  Shape shape{.run = true,
              .lower = element.lower,
              .size = element.size,
              .long_double = element.long_double};
  std::int64_t stride = element.extent;  // between neighbours in the dimension at hand
  std::int64_t elements = 1;
  bool partial = false;  // a faster dimension is not taken whole
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t d = c_order ? n - 1 - k : k;
    if (partial && subsizes[d] != 1) shape.run = false;
    if (subsizes[d] != sizes[d]) partial = true;
    shape.lower += starts[d] * stride;
    stride *= sizes[d];
    elements *= subsizes[d];
  }
  shape.size = element.size * elements;
  shape.run = shape.run && element.run_of(elements);
  return shape;
}

}  // namespace isthmus::face
