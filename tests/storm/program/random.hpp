// Numbers that are the same for the same seed, on every rank and every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace storm {

/// The finalizer of splitmix64: neighbouring arguments have unrelated results.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_++); }
  /// Returns a number from 0 to `bound` - 1.
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  int between(int least, int most) { return least + below(most - least + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[next() % all.size()];
  }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[next() % i]);
  }
  /// Another row of numbers, which leaves this one as it is.
  [[nodiscard]] Random branch(std::uint64_t salt) const {
    return Random(mixed(state_ ^ mixed(salt)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace storm
