#include "rma/record.hpp"

namespace isthmus::rma {

RecordWriter& RecordWriter::put(const Area& area) {
  put(area.displacement).put(area.map).put(area.size);
  if (area.map != 0) put(area.count).put(area.position);
  return *this;
}

RecordWriter& RecordWriter::put(const Combination& how) {
  const Element& e = how.element;
  put(static_cast<std::uint8_t>(how.op)).put(static_cast<std::uint8_t>(e.value));
  put(static_cast<std::uint8_t>(e.index)).put(static_cast<std::uint8_t>(e.pair ? 1 : 0));
  return put(e.value_size).put(e.index_size).put(e.index_offset).put(e.extent);
}

std::span<const std::byte> RecordReader::bytes(std::uint64_t size) {
  if (size > in_.size()) {
    good_ = false;
    in_ = {};
    return {};
  }
  const auto taken = in_.first(static_cast<std::size_t>(size));
  in_ = in_.subspan(taken.size());
  return taken;
}

Area RecordReader::area() {
  Area area;
  area.displacement = get<std::int64_t>();
  area.map = get<std::uint32_t>();
  area.size = get<std::uint64_t>();
  if (area.map != 0) {
    area.count = get<std::int64_t>();
    area.position = get<std::uint64_t>();
  }
  return area;
}

std::optional<Combination> RecordReader::combination() {
  const auto op = get<std::uint8_t>(), value = get<std::uint8_t>(), index = get<std::uint8_t>();
  const auto pair = get<std::uint8_t>();
  Combination how;
  how.element.value_size = get<std::uint32_t>();
  how.element.index_size = get<std::uint32_t>();
  how.element.index_offset = get<std::uint32_t>();
  how.element.extent = get<std::uint32_t>();
  if (!good_ || op >= kOps || value >= kNumbers || index >= kNumbers || pair > 1) return {};
  how.op = static_cast<Op>(op);
  how.element.value = static_cast<Number>(value);
  how.element.index = static_cast<Number>(index);
  how.element.pair = pair != 0;
  if (!sound(how.element) || !combines(how.op, how.element)) return {};
  return how;
}

}  // namespace isthmus::rma
