// Accumulates at a target; their data comes with their record or behind it.
#include <algorithm>
#include <utility>

#include "rma/combining.hpp"
#include "rma/device_area.hpp"
#include "rma/target_partner.hpp"

namespace isthmus::rma {

// False: the origin breaks the protocol. Empty data changes nothing. `before` gets the old values
// if it has the area's size.
bool Target::compute(Partner& from, const Area& area, const Combination& how,
                     std::span<const std::byte> data, std::vector<std::byte>& before) {
  Spot spot;
  if (!resolve(from, area, &how.element, spot)) return false;
  if (spot.memory == nullptr) {
    before.clear();
    return true;
  }
  const Elements there{.memory = spot.memory,
                       .map = spot.map,
                       .count = area.count,
                       .position = static_cast<std::int64_t>(area.position),
                       .size = static_cast<std::size_t>(area.size)};
  if (spot.device == nullptr) {
    return combine_there(there, how, data, before, channel_.config.turn);
  }
  bool sound = true;
  const bool good = on_device(from, spot.device, [&](DeviceCopies& copies) {
    sound = combine_device(copies, there, how, data, before);
  });
  if (!good) before.clear();
  return sound;
}

Target::Step Target::accumulate(int rank, Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto how = in.combination();
  const auto tag = in.get<std::int32_t>();
  if (!in.good() || !how) return Step::Broken;
  const auto data = how->op == Op::NoOp ? std::span<const std::byte>() : in.bytes(area.size);
  if (!in.good() || area.size > core::kMostServiceBytes) return Step::Broken;
  std::vector<std::byte> before(tag != 0 ? static_cast<std::size_t>(area.size) : 0);
  if (!compute(from, area, *how, data, before)) return Step::Broken;
  if (tag != 0) {
    end_device(from);
    channel_.answer(rank, tag, std::move(before));
  }
  return Step::Done;
}

// Part of the data may be here: data that came while a record waited stands behind it.
Target::Step Target::accumulate_apart(Partner& from, RecordReader& in) {
  const Area area = in.area();
  const auto how = in.combination();
  Spot spot;
  if (!in.good() || !how || how->op == Op::NoOp || area.size == 0 ||
      !resolve(from, area, &how->element, spot)) {
    return Step::Broken;
  }
  from.apart_here = {area, *how, spot.memory == nullptr};
  const auto here = std::min<std::uint64_t>(area.size, in.rest().size());
  return take_data(from, in.bytes(here)) ? Step::Done : Step::Broken;
}

bool Target::take_data(Partner& from, std::span<const std::byte> data) {
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
