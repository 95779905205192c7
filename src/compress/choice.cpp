#include "compress/choice.hpp"

#include <algorithm>

#include "core/base/debug_off.hpp"

namespace isthmus::compress {
namespace {

constexpr double kFresh = 0.25;  // weight of the last frame
// Compressing must save at least this much: the receiver has work with it, too.
constexpr double kWorthIt = 0.95;
// The same thread also encrypts and writes; this part of its time is for compressing.
constexpr double kSpare = 0.8;
// Frames of random bytes that are tried cost a link of 1 Gbit/s less than 1 % (2026-11: 0.15 ms of
// 64 KiB, which it carries in 0.5 ms).
constexpr int kFirstPause = 8, kLongestPause = 256;

}  // namespace

double Choice::cost(std::size_t layout) const {
  if (layout == kLayouts) return kWorthIt / rate_;
  const Gain& gain = gains_[layout];
  // One frame is compressed while the one before it is on its way.
  return std::max(gain.share / rate_, gain.seconds / kSpare);
}

std::size_t Choice::best() const {
  std::size_t best = kLayouts;
  for (std::size_t layout = 0; layout < kLayouts; ++layout) {
    if (gains_[layout].known && cost(layout) < cost(best)) best = layout;
  }
  return best;
}

Choice::Next Choice::next() {
  if (rate_ <= 0) return {};
  const std::size_t before = chosen_;
  chosen_ = best();
  if (chosen_ != before) pause_ = kFirstPause;
  if (++frames_ >= pause_) {
    frames_ = 0;
    tried_ = core::off(core::Mechanism::WordDifferences) ? 0 : (tried_ + 1) % kLayouts;
    const bool all = core::off(core::Mechanism::WordDifferences)
                         ? gains_[0].known
                         : std::all_of(gains_.begin(), gains_.end(),
                                       [](const Gain& gain) { return gain.known; });
    pause_ = all ? std::clamp(2 * pause_, kFirstPause, kLongestPause) : 1;
    return {true, static_cast<Layout>(tried_)};
  }
  return {chosen_ < kLayouts, static_cast<Layout>(chosen_ % kLayouts)};
}

void Choice::measured(Layout layout, std::size_t bytes, std::size_t compressed,
                      std::chrono::nanoseconds took) {
  if (bytes == 0) return;
  Gain& gain = gains_[static_cast<std::size_t>(layout)];
  const double share = static_cast<double>(compressed) / static_cast<double>(bytes);
  const double seconds = 1e-9 * static_cast<double>(took.count()) / static_cast<double>(bytes);
  if (!gain.known) {
    gain = {share, seconds, true};
    return;
  }
  gain.share += kFresh * (share - gain.share);
  gain.seconds += kFresh * (seconds - gain.seconds);
}

}  // namespace isthmus::compress
