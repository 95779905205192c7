// What targets compute: accumulates, whose data comes with their record or behind it.
#include <algorithm>
#include <optional>
#include <utility>

#include "rma/partner.hpp"
#include "rma/window.hpp"

namespace isthmus::rma {
namespace {

// Calls `use(memory, packed, count)` for elements that lie in a row, from `position` of a map on.
// False: the map does not consist of such elements.
template <class Use>
bool each_run(const core::TypeMap& map, std::int64_t count, std::int64_t position, std::size_t size,
              std::byte* memory, const Element& element, Use&& use) {
  core::TypeCursor cursor(map, count, position);
  const auto packed = static_cast<std::int64_t>(element.packed());
  const auto next_of = [&](std::int64_t most) -> std::optional<std::byte*> {
    const core::Piece piece = cursor.next(most);
    if (piece.length != most) return std::nullopt;
    return memory + piece.offset;
  };
  for (std::size_t at = 0; at < size;) {
    if (element.gapless() && !element.pair) {
      const auto most = static_cast<std::int64_t>(size - at);
      const core::Piece piece = cursor.next(most);
      if (piece.length <= 0 || piece.length % packed != 0) return false;
      use(memory + piece.offset, at, static_cast<std::size_t>(piece.length / packed));
      at += static_cast<std::size_t>(piece.length);
    } else {
      const auto value = next_of(element.value_size);
      const auto index = next_of(element.index_size);
      if (!value || !index || *index != *value + element.index_offset) return false;
      use(*value, at, 1);
      at += element.packed();
    }
  }
  return true;
}

}  // namespace

// False: the origin breaks the protocol. No data: nothing is changed. `before` gets what was there
// where it has the area's size.
bool Window::compute(Partner& from, const Area& area, const Combination& how,
                     std::span<const std::byte> data, std::vector<std::byte>& before) {
  Target target;
  if (!resolve(from, area, &how.element, target)) return false;
  if (target.memory == nullptr) {
    before.clear();
    return true;
  }
  const auto size = static_cast<std::size_t>(area.size);
  const auto use = [&](std::byte* memory, std::size_t at, std::size_t count) {
    if (!before.empty()) pack(how.element, memory, before.data() + at, count);
    const std::byte* const operand = data.empty() ? nullptr : data.data() + at;
    combine(how.op, how.element, memory, operand, count);
  };
  if (target.map != nullptr) {
    return each_run(*target.map, area.count, static_cast<std::int64_t>(area.position), size,
                    target.memory, how.element, use);
  }
  use(target.memory, 0, size / how.element.packed());
  return true;
}

Window::Step Window::accumulate(int rank, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto how = in.combination();
  const auto tag = in.get<std::int32_t>();
  if (!in.good() || !how) return Step::Broken;
  const auto data = how->op == Op::NoOp ? std::span<const std::byte>() : in.bytes(area.size);
  if (!in.good() || area.size > core::kMostServiceBytes) return Step::Broken;
  std::vector<std::byte> before(tag != 0 ? static_cast<std::size_t>(area.size) : 0);
  if (!compute(from, area, *how, data, before)) return Step::Broken;
  if (tag != 0) answer(rank, tag, std::move(before));
  return Step::Done;
}

// Of the data some may be here: what has come while a record waited stands behind it.
Window::Step Window::accumulate_apart(Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto how = in.combination();
  Target target;
  if (!in.good() || !how || how->op == Op::NoOp || area.size == 0 ||
      !resolve(from, area, &how->element, target)) {
    return Step::Broken;
  }
  from.apart_here = {area, *how, target.memory == nullptr};
  const auto here = std::min<std::uint64_t>(area.size, in.rest().size());
  return take_data(from, in.bytes(here)) ? Step::Done : Step::Broken;
}

bool Window::take_data(Partner& from, std::span<const std::byte> data) {
  if (data.empty()) return true;
  if (!from.apart_here) return false;
  auto& [area, how, outside] = *from.apart_here;
  const std::size_t packed = how.element.packed();
  if (data.size() > area.size || data.size() % packed != 0) return false;
  Area now = area;
  now.size = data.size();
  std::vector<std::byte> none;
  if (!outside && !compute(from, now, how, data, none)) return false;
  area.size -= data.size();
  if (area.map != 0) {
    area.position += data.size();
  } else {
    area.displacement += static_cast<std::int64_t>(data.size() / packed * how.element.extent);
  }
  if (area.size == 0) from.apart_here.reset();
  return true;
}

}  // namespace isthmus::rma
