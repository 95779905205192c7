#include "coll/engine/network.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "coll/engine/text.hpp"

namespace isthmus::coll {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimes[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kRates[] = {{"K", 1e3}, {"M", 1e6}, {"G", 1e9}};  // bits

/// A number and one of the units; NaN for anything else.
template <std::size_t N>
double amount(std::string_view text, const Unit (&units)[N]) {
  double value = 0;  // whatever the program's locale takes for a decimal point
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || !(value > 0) || !std::isfinite(value)) return NAN;
  const std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  for (const Unit& unit : units) {
    if (unit.name == rest) return value * unit.factor;
  }
  return NAN;
}

}  // namespace

Network Network::of_one_host() {
  // Two ranks of two clusters through shared memory (2026-11, two cores at 2.5 GHz).
  Network network;
  network.wan_latency = 2e-6;
  network.wan_bandwidth = 2e9;
  // Native phases are looked at in turns with the other network.
  network.link_latency = 3e-6;
  network.link_bandwidth = 3e9;
  network.message_cost = 1e-6;
  // Segments of a pipeline take turns on the cores besides: four ranks' broadcasts of 128 KiB took
  // 147 us in segments, 90 whole.
  network.stream_cost = 6e-6;
  return network;
}

Network parse_network(std::string_view text, Network base) {
  while (!text.empty()) {
    const std::string_view entry = trimmed(next(text, ','));
    if (entry.empty()) continue;
    std::string_view value = entry;
    const std::string_view key = trimmed(next(value, '='));
    value = trimmed(value);
    double* time = nullptr;
    double* rate = nullptr;
    if (key == "wan-latency") time = &base.wan_latency;
    if (key == "link-latency") time = &base.link_latency;
    if (key == "message-cost") time = &base.message_cost;
    if (key == "stream-cost") time = &base.stream_cost;
    if (key == "wan-rate") rate = &base.wan_bandwidth;
    if (key == "link-rate") rate = &base.link_bandwidth;
    if (time != nullptr) {
      *time = amount(value, kTimes);
      if (std::isnan(*time)) refuse(quoted(entry) + ": give a time, as in 10ms, 50us or 0.01s");
    } else if (rate != nullptr) {
      *rate = amount(value, kRates) / 8;
      if (std::isnan(*rate)) refuse(quoted(entry) + ": give bits a second, as in 100M or 1.5G");
    } else if (key == "paths") {
      if (value.empty() || value.size() > 3 ||
          value.find_first_not_of("0123456789") != std::string_view::npos) {
        refuse(quoted(entry) + ": give a number of gateways, 0 where processes reach each other");
      }
      base.paths = std::atoi(std::string(value).c_str());
    } else {
      refuse(quoted(entry) +
             " is not known: set wan-latency, wan-rate, link-latency, link-rate, message-cost, "
             "stream-cost or paths");
    }
  }
  return base;
}

}  // namespace isthmus::coll
