// The lateness of delivered packets: it shows whether a measurement can be trusted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lab/time.hpp"

namespace isthmus::lab {

struct Lateness {
  std::uint64_t count = 0;
  Nanos sum = 0;
  Nanos most = 0;
  std::uint64_t over_millisecond = 0;

  void note(Nanos late) {
    late = std::max<Nanos>(late, 0);
    ++count;
    sum += late;
    most = std::max(most, late);
    if (late > kMillisecond) ++over_millisecond;
  }
  double mean_seconds() const {
    return count == 0 ? 0 : static_cast<double>(sum) / 1e9 / static_cast<double>(count);
  }
};

}  // namespace isthmus::lab
