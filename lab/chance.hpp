// Loss and jitter: drawn from a seeded generator, so that a run can be repeated.
#pragma once

#include <cstdint>
#include <limits>
#include <random>

#include "lab/time.hpp"

namespace isthmus::lab {

/// Each segment is lost with the same probability, independently of the others.
class Loss {
 public:
  explicit Loss(std::uint64_t seed) : random_(seed) {}

  void set_probability(double probability) {
    probability_ = probability;
    draw();
  }

  /// The number of the next `count` segments that pass before one is lost; `count` when all do. The
  /// lost one, if any, is used up, and so are those before it.
  std::uint32_t passes(std::uint32_t count) {
    if (gap_ >= count) {
      gap_ -= gap_ == kNever ? 0 : count;
      return count;
    }
    const auto passed = static_cast<std::uint32_t>(gap_);
    draw();
    return passed;
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  // The number of segments up to the next loss is geometrically distributed: one draw per loss.
  void draw() {
    if (probability_ <= 0) {
      gap_ = kNever;
    } else if (probability_ >= 1) {
      gap_ = 0;
    } else {
      gap_ = std::geometric_distribution<std::uint64_t>(probability_)(random_);
    }
  }

  std::mt19937_64 random_;
  double probability_ = 0;
  std::uint64_t gap_ = kNever;
};

/// Additional delay between 0 and a most, all equally likely.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : random_(seed) {}

  void set_most(Nanos most) { most_ = most; }

  Nanos draw() { return most_ > 0 ? std::uniform_int_distribution<Nanos>(0, most_)(random_) : 0; }

 private:
  std::mt19937_64 random_;
  Nanos most_ = 0;
};

}  // namespace isthmus::lab
