// Time of the WAN box. Its parts never read a clock: the caller gives the time.
#pragma once

#include <cstdint>

namespace isthmus::lab {

/// Nanoseconds since some start; of CLOCK_MONOTONIC when the box runs.
using Nanos = std::int64_t;

constexpr Nanos kMicrosecond = 1'000;
constexpr Nanos kMillisecond = 1'000'000;
constexpr Nanos kSecond = 1'000'000'000;

}  // namespace isthmus::lab
