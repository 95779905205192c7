#include "coll/engine/segment_size.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "coll/engine/cost.hpp"

namespace isthmus::coll {
namespace {

// Bytes of a message of a pipeline. Smaller ones keep processors busier than links: on 16 nodes of
// 100 Mbit/s, broadcasts of 1 MiB and allreduces of 3.2 MB took a tenth longer with 4 KiB (November
// 2026, two processors for all). A network card that cuts packets itself takes 8 KiB as one.
constexpr std::size_t kLeast = 8192, kMost = 65536;

/// The segment size, a power of two from `least` to `most`. It balances the time to fill the
/// pipeline, `depth` segments long, against the time to handle all segments, `handling` seconds
/// each. Filling takes at most a 16th of the whole, whatever the links' real bandwidth is.
std::size_t balanced(const Network& network, std::size_t bytes, double depth, double handling,
                     std::size_t least, std::size_t most) {
  const double size = static_cast<double>(bytes);
  // depth * s / B + bytes / s * handling is least if both are equal.
  const double best = std::sqrt(size * handling * network.link_bandwidth / depth);
  const double bounded = std::clamp(std::min(best, size / 16 / depth), 1.0, 1e12);
  // Up from 2^(n - 1/4) to 2^n, else down. All ranks must get the same size: no function of libm
  // but sqrt gives the same bits everywhere.
  constexpr double kQuarter = 1.189207115002721;
  const auto rounded = std::bit_floor(static_cast<std::size_t>(bounded * kQuarter));
  return std::clamp(rounded, least, most);
}

}  // namespace

std::size_t striped_segment(const Layout& layout, const Network& network, std::size_t bytes,
                            const Parameters& parameters) {
  if (parameters.segment > 0) return parameters.segment;
  const int depth = largest_cluster(layout) + 1;
  // If filling takes at least half of the time, half the size is worth its extra messages: 18.9
  // instead of 21.3 ms at 64 KiB on those nodes.
  const bool fills = bytes < 2 * kLeast * static_cast<std::size_t>(depth);
  return balanced(network, bytes, depth, network.stream_cost, fills ? kLeast / 2 : kLeast, kMost);
}

std::size_t pipelined_segment(const Layout& layout, const Network& network, std::size_t bytes,
                              const Parameters& parameters) {
  if (parameters.segment > 0) return parameters.segment;
  const auto members = static_cast<std::size_t>(largest_cluster(layout));
  return balanced(network, bytes, 1, 4.0 * static_cast<double>(members) * network.stream_cost,
                  kLeast * members, kMost * members);
}

std::size_t carried_segment(const Network& network, std::size_t bytes, int senders,
                            const Parameters& parameters) {
  if (parameters.segment > 0) return parameters.segment;
  // In, across and out: a segment wakes a process each time, since few are under way.
  constexpr double kHops = 3;
  return balanced(network, bytes / static_cast<std::size_t>(senders), kHops - 1,
                  kHops * network.message_cost, kLeast, kMost);
}

}  // namespace isthmus::coll
