// Times in sentences for people.
#pragma once

#include <chrono>
#include <string>

namespace isthmus::core {

/// "80 ms", "30 s", "10 min": whole numbers of the largest unit that is exact.
inline std::string time_text(std::chrono::nanoseconds time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  if (ms % 1000 != 0) return std::to_string(ms) + " ms";
  if (ms == 0 || ms % 60'000 != 0) return std::to_string(ms / 1000) + " s";
  return std::to_string(ms / 60'000) + " min";
}

}  // namespace isthmus::core
