// A log gets few lines about events that strangers can cause at any rate, such as refusals.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace isthmus::daemon::log {

/// The time between two lines. Lines of at most 500 bytes make 10 KB a minute.
inline constexpr std::chrono::seconds kRareLine{3};

/// `What` is what a line says. Times are of the caller's clock and do not fall.
template <class What>
class RareLines {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Line {
    What last;
    std::uint64_t count;  ///< of all that have happened since the last line
  };

  /// It has happened. Returns the line to be written now, if any.
  std::optional<Line> add(What what, Time now = std::chrono::steady_clock::now()) {
    last_ = std::move(what);
    ++count_;
    return due(now);
  }

  /// Returns the line that had to wait, once its time has come.
  std::optional<Line> due(Time now = std::chrono::steady_clock::now()) {
    if (count_ == 0 || now < next_) return std::nullopt;
    next_ = now + kRareLine;
    return rest();
  }

  /// The same, whatever the time.
  std::optional<Line> rest() {
    if (count_ == 0) return std::nullopt;
    return Line{std::move(last_), std::exchange(count_, 0)};
  }

 private:
  What last_{};
  std::uint64_t count_ = 0;
  Time next_{};
};

/// "..., and 17 more".
inline std::string text_of(const RareLines<std::string>::Line& line) {
  return line.last.substr(0, 300) +
         (line.count > 1 ? ", and " + std::to_string(line.count - 1) + " more" : "");
}

}  // namespace isthmus::daemon::log
