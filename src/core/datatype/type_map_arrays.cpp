// The maps of parts of arrays (MPI-4.0, 5.1.3 and 5.1.4).
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/datatype/type_map.hpp"

namespace isthmus::core {

TypeMap subarray_map(const TypeMap& element, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> subsizes, std::span<const std::int64_t> starts,
                     bool c_order) {
  TypeMap map = element;
  std::int64_t stride = element.extent();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::size_t d = c_order ? sizes.size() - 1 - k : k;
    std::int64_t first = 0;
    if (!times(starts[d], stride, first)) too_large();
    TypeMapBuilder builder;
    builder.add(map, 1, first, subsizes[d], stride);
    if (!times(stride, sizes[d], stride)) too_large();
    map = std::move(builder).build();
  }
  return map.resized(0, stride);
}

TypeMap darray_map(const TypeMap& element, std::span<const Distribution> dimensions,
                   std::int64_t rank, bool c_order) {
  const std::size_t n = dimensions.size();
  std::vector<std::int64_t> place(n);
  for (std::size_t d = n; d-- > 0;) {
    place[d] = rank % dimensions[d].processes;
    rank /= dimensions[d].processes;
  }
  TypeMap map = element;
  std::int64_t stride = element.extent();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t d = c_order ? n - 1 - k : k;
    const Distribution& how = dimensions[d];
    const bool whole = how.kind == Distribution::Kind::None;
    std::int64_t block = how.argument;
    if (whole) block = how.size;
    if (block <= 0) {
      block = how.kind == Distribution::Kind::Cyclic
                  ? 1
                  : (how.size + how.processes - 1) / how.processes;
    }
    const std::int64_t first = whole ? 0 : place[d] * block;
    const std::int64_t step = how.processes * block;
    const std::int64_t left = std::max<std::int64_t>(how.size - first, 0);
    const bool cyclic = how.kind == Distribution::Kind::Cyclic;
    const std::int64_t full = cyclic ? (left + step - block) / step : 1;
    const std::int64_t rest = cyclic ? left - full * step : 0;  // of a last, partial block
    std::int64_t first_byte = 0, step_bytes = 0, rest_byte = 0;
    if (!times(first, stride, first_byte) || !times(step, stride, step_bytes) ||
        !times(first + full * step, stride, rest_byte)) {
      too_large();
    }
    TypeMapBuilder builder;
    const TypeMap spaced = map.resized(0, stride);
    builder.add(spaced, cyclic ? block : std::min(block, left), first_byte, full, step_bytes);
    builder.add(spaced, rest, rest_byte);
    if (!times(stride, how.size, stride)) too_large();
    map = std::move(builder).build();
  }
  return map.resized(0, stride);
}

}  // namespace isthmus::core
