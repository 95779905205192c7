#include "core/streams/bulk_streams.hpp"

#include <algorithm>
#include <numeric>

namespace isthmus::core {

bool BulkStreams::due(Time now, std::uint64_t sent) {
  const Time period = std::max(kPeriod, 2 * round_trip_);
  const Time took = now - began_;
  if (took < period) return false;
  // Two periods or more include a pause of unknown length.
  if (took < 2 * period) {
    rate_ = static_cast<double>(sent - before_) / std::chrono::duration<double>(took).count();
  }
  began_ = now;
  before_ = sent;
  return true;
}

std::vector<BulkStreams::Part> BulkStreams::choose(std::span<const double> windows) const {
  std::vector<Part> parts(windows.size(), Part::All);
  if (windows.empty()) return parts;
  const double narrow = kNarrow * std::ranges::max(windows);
  std::vector<std::size_t> order(windows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return windows[i]; });
  const double enough = std::max(kMuch, kOver * under_way());
  double room = 0;
  std::size_t count = 0;
  for (const std::size_t i : order) {
    const bool few = count < kLeast && windows[i] >= narrow;
    if (room >= enough && !few) {
      parts[i] = Part::None;
    } else if (windows[i] < narrow) {
      parts[i] = Part::Narrow;
    }
    room += windows[i];
    ++count;
  }
  return parts;
}

}  // namespace isthmus::core
