#include "coll/engine/network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

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

/// Reads entries about single pairs of clusters, and the names of those pairs.
class PairReader {
 public:
  explicit PairReader(std::span<const std::string> clusters) : clusters_(clusters) {}

  /// lyon/tsukuba:120ms:1G, the time or the rate left out.
  void read_pair(std::string_view entry, std::string_view value) {
    const auto [a, b] = pair_named(entry, trimmed(next(value, ':')));
    const std::string_view time = trimmed(next(value, ':'));
    const std::string_view rate = trimmed(value);
    Pairs::Way way{a, b, 0, 0};
    if (!time.empty()) way.latency = amount(time, kTimes);
    if (!rate.empty()) way.bandwidth = amount(rate, kRates) / 8;
    if (std::isnan(way.latency) || std::isnan(way.bandwidth) || (time.empty() && rate.empty())) {
      refuse(quoted(entry) + ": give a time, a rate or both, as in pair=lyon/tsukuba:10ms:1G");
    }
    if (a >= 0) merge(way);
  }

  /// lyon/tsukuba+nice/tsukuba:1G.
  void read_shared(std::string_view entry, std::string_view value) {
    std::string_view names = next(value, ':');
    Pairs::Shared shared{amount(trimmed(value), kRates) / 8, {}};
    if (std::isnan(shared.bandwidth)) {
      refuse(quoted(entry) + ": give bits a second, as in shared=lyon/tsukuba+nice/tsukuba:1G");
    }
    do {
      const auto pair = pair_named(entry, trimmed(next(names, '+')));
      const bool known = std::ranges::find(shared.pairs, pair) != shared.pairs.end();
      if (pair.first >= 0 && !known) shared.pairs.push_back(pair);
    } while (!names.empty());
    if (shared.pairs.empty()) return;
    // The last entry for the same pairs counts.
    std::ranges::sort(shared.pairs);
    std::erase_if(found_.shared, [&](const auto& old) { return old.pairs == shared.pairs; });
    found_.shared.push_back(std::move(shared));
  }

  void add_to(Network& network) const {
    if (found_.ways.empty() && found_.shared.empty()) return;
    network.pairs = std::make_shared<const Pairs>(found_);
  }

 private:
  /// -1: a cluster that has no part in this run.
  int number_of(std::string_view name) const {
    const auto at = std::ranges::find(clusters_, name);
    return at == clusters_.end() ? -1 : static_cast<int>(at - clusters_.begin());
  }

  /// The smaller number first.
  std::pair<int, int> pair_named(std::string_view entry, std::string_view names) const {
    const std::string_view a = trimmed(next(names, '/'));
    const std::string_view b = trimmed(names);
    if (a.empty() || b.empty() || a == b || b.find('/') != std::string_view::npos) {
      refuse(quoted(entry) + ": name two clusters for each pair, as in lyon/tsukuba");
    }
    return std::minmax({number_of(a), number_of(b)});
  }

  void merge(const Pairs::Way& way) {
    const auto before = [](const Pairs::Way& x, const Pairs::Way& y) {
      return std::pair(x.a, x.b) < std::pair(y.a, y.b);
    };
    const auto at = std::ranges::lower_bound(found_.ways, way, before);
    if (at == found_.ways.end() || before(way, *at)) {
      found_.ways.insert(at, way);
      return;
    }
    if (way.latency > 0) at->latency = way.latency;
    if (way.bandwidth > 0) at->bandwidth = way.bandwidth;
  }

  std::span<const std::string> clusters_;
  Pairs found_;
};

}  // namespace

Network Network::of_one_host() {
  // Two ranks of two clusters through shared memory (2026-11, two cores at 2.5 GHz).
  Network network;
  network.one_host = true;
  network.wan_latency = 2e-6;
  network.wan_bandwidth = 8e9;  // lent data is copied once, by several receivers at a time
  // Native phases are looked at in turns with the other network.
  network.link_latency = 3e-6;
  network.link_bandwidth = 5e9;
  network.message_cost = 1e-6;
  // Segments of a pipeline also take turns on the cores: four ranks' broadcasts of 128 KiB took 147
  // us in segments, 90 whole.
  network.stream_cost = 6e-6;
  return network;
}

Network Network::of_one_room(double bandwidth) {
  // Only two rates, so that runs that measure slightly different rates choose alike.
  constexpr double kFast = 1.25e9;
  Network network;
  // Waking a process costs more than the wire: with 25 us and 20 us a message, barriers and
  // allreduces of 8 B took 1.4 times as long, by exchanges of more rounds (2026-11).
  network.wan_latency = network.link_latency = 50e-6;
  network.message_cost = 5e-6;
  if (bandwidth > kFast / 4) network.wan_bandwidth = network.link_bandwidth = kFast;
  // Each message of a stream wakes a process, and no delay hides that. At 10 us, a reduction of 1
  // MiB with eight ranks on two cores went in segments: 15.6 ms, whole 3.9 (2026-11).
  network.stream_cost = 20e-6;
  return network;
}

Network parse_network(std::string_view text, Network base, std::span<const std::string> clusters) {
  PairReader pairs(clusters);
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
    } else if (key == "pair") {
      pairs.read_pair(entry, value);
    } else if (key == "shared") {
      pairs.read_shared(entry, value);
    } else if (key == "paths") {
      if (value.empty() || value.size() > 3 ||
          value.find_first_not_of("0123456789") != std::string_view::npos) {
        refuse(quoted(entry) + ": give a number of gateways, 0 where processes reach each other");
      }
      base.paths = std::atoi(std::string(value).c_str());
    } else {
      refuse(quoted(entry) +
             " is not known: set wan-latency, wan-rate, link-latency, link-rate, message-cost, "
             "stream-cost, paths, pair or shared");
    }
  }
  pairs.add_to(base);
  return base;
}

}  // namespace isthmus::coll
