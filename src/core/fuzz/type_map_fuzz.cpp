// Any bytes may describe a datatype. Decoding must refuse them or make a map whose pieces lie
// within its bounds and follow one another.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/datatype/type_map.hpp"

using namespace isthmus::core;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
  const auto map = TypeMap::decode(all.subspan(2));
  if (!map) return 0;
  std::vector<std::byte> wire;
  map->encode(wire);
  demand(TypeMap::decode(wire).has_value());

  const std::int64_t count = data[0] % 4, most = 1 + data[1];
  const auto bounds = map->bounds(count);
  TypeCursor cursor(*map, count);
  for (int k = 0; k < 200 && !cursor.done(); ++k) {
    const std::int64_t before = cursor.position();
    const Piece piece = cursor.next(most);
    demand(piece.length > 0 && piece.length <= most);
    demand(cursor.position() == before + piece.length);
    demand(!bounds || (piece.offset >= bounds->low && piece.offset + piece.length <= bounds->high));
  }
  return 0;
}
