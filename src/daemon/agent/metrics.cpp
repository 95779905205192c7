#include "daemon/agent/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "daemon/metrics/exposition.hpp"

namespace isthmus::daemon {
namespace {

struct OfLink {
  const char* name;
  const char* type;
  const char* help;
  std::function<double(const LinkCount&)> value;
};

const std::vector<OfLink>& of_links() {
  static const std::vector<OfLink> all{
      {"isthmus_link_messages_total", "counter", "Messages of the program sent over the link.",
       [](const LinkCount& c) { return static_cast<double>(c.messages); }},
      {"isthmus_link_payload_bytes_total", "counter", "Bytes of the program sent over the link.",
       [](const LinkCount& c) { return static_cast<double>(c.bytes); }},
      {"isthmus_link_frames_total", "counter", "Frames sent over the link.",
       [](const LinkCount& c) { return static_cast<double>(c.frames); }},
      {"isthmus_link_wire_bytes_total", "counter",
       "Bytes given to the link's streams, with headers and repetitions.",
       [](const LinkCount& c) { return static_cast<double>(c.wire_bytes); }},
      {"isthmus_link_lost_bytes_total", "counter", "Bytes that TCP had to send again.",
       [](const LinkCount& c) { return static_cast<double>(c.repeated); }},
      {"isthmus_link_waiting_bytes", "gauge",
       "Bytes given to the link that its other end has not passed on yet.",
       [](const LinkCount& c) { return static_cast<double>(c.waiting); }},
      {"isthmus_link_streams", "gauge", "Open streams of the link.",
       [](const LinkCount& c) { return static_cast<double>(c.streams); }},
      {"isthmus_link_rtt_seconds", "gauge", "Round trip, smoothed, of the slowest stream.",
       [](const LinkCount& c) { return static_cast<double>(c.rtt.count()) * 1e-6; }},
      {"isthmus_link_min_rtt_seconds", "gauge", "The shortest round trip seen.",
       [](const LinkCount& c) { return static_cast<double>(c.min_rtt.count()) * 1e-6; }},
      {"isthmus_link_best_rate_bytes_per_second", "gauge",
       "The most bytes a second that the other end acknowledged, over 100 ms.",
       [](const LinkCount& c) { return c.best_rate; }},
      {"isthmus_link_silence_seconds", "gauge",
       "Time since a silent link was last heard. 0: the link is not silent.",
       [](const LinkCount& c) { return static_cast<double>(c.silence.count()) * 1e-3; }},
  };
  return all;
}

/// A counter of traffic that takes no link.
struct Total {
  const char* key;  // in docs/control.md's `stats`
  const char* direct_name;
  const char* direct_help;
  const char* crossing_name;
  const char* crossing_help;
};
constexpr std::array<Total, 3> kTotals{{
    {"messages", "isthmus_direct_messages_total",
     "Messages of the program that ranks sent to ranks of another cluster without gateways.",
     "isthmus_crossing_messages_total",
     "Messages of the program that a gateway of both clusters passed between their ranks."},
    {"bytes", "isthmus_direct_payload_bytes_total",
     "Bytes of the program that ranks sent to ranks of another cluster without gateways.",
     "isthmus_crossing_payload_bytes_total",
     "Bytes of the program that a gateway of both clusters passed between their ranks."},
    {"wire_bytes", "isthmus_direct_wire_bytes_total",
     "Bytes sent so, with headers and repetitions.", "isthmus_crossing_wire_bytes_total",
     "Bytes passed so, with headers and repetitions."},
}};

bool share_memory(const core::World& world, std::size_t a, std::size_t b) {
  return std::any_of(world.direct.begin(), world.direct.end(), [&](const core::Direct& direct) {
    return direct.shm && std::minmax(direct.a, direct.b) == std::minmax(a, b);
  });
}

/// Sums `key` of the entries by their two clusters.
std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> sums(const nlohmann::json& counts,
                                                                  const char* key) {
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> all;
  for (const auto& count : counts) {
    all[{count.at("from").get<std::size_t>(), count.at("to").get<std::size_t>()}] +=
        count.at(key).get<std::uint64_t>();
  }
  return all;
}

void add_totals(Exposition& text, const std::string& run, const core::World& world,
                const JobCounts& counts) {
  const auto name_of = [&](std::size_t at) {
    return at < world.clusters.size() ? world.clusters[at].name : fmt::format("cluster {}", at);
  };
  for (const Total& total : kTotals) {
    text.family(total.direct_name, "counter", total.direct_help);
    for (const auto& [ends, sum] : sums(counts.direct, total.key)) {
      const bool memory = share_memory(world, ends.first, ends.second);
      text.sample({{"run", run},
                   {"from", name_of(ends.first)},
                   {"to", name_of(ends.second)},
                   {"way", memory ? "memory" : "network"}},
                  sum);
    }
    text.family(total.crossing_name, "counter", total.crossing_help);
    for (const auto& [ends, sum] : sums(counts.crossings, total.key)) {
      text.sample({{"run", run}, {"from", name_of(ends.first)}, {"to", name_of(ends.second)}}, sum);
    }
  }
}

}  // namespace

std::string metrics_text(const std::string& job, const core::World& world,
                         const JobCounts& counts) {
  Exposition text;
  text.family("isthmus_build_info", "gauge", "The version of Isthmus, as a label.");
  text.sample({{"version", ISTHMUS_VERSION}}, 1);
  for (const OfLink& metric : of_links()) {
    text.family(metric.name, metric.type, metric.help);
    for (const LinkCount& link : counts.links) {
      text.sample(
          {{"run", job}, {"from", world.label_of(link.from)}, {"to", world.label_of(link.to)}},
          metric.value(link));
    }
  }
  const auto of_clusters = [&](const char* name, const char* help, const auto& ranks) {
    text.family(name, "gauge", help);
    for (const auto& cluster : world.clusters) {
      if (!counts.joined.contains(cluster.name)) continue;  // another agent knows
      text.sample({{"run", job}, {"cluster", cluster.name}}, ranks(cluster));
    }
  };
  of_clusters("isthmus_ranks", "Ranks of the cluster.",
              [](const auto& cluster) { return cluster.size; });
  of_clusters("isthmus_ranks_joined", "Ranks of the cluster that have called MPI_Init.",
              [&](const auto& cluster) { return counts.joined.at(cluster.name); });
  text.family("isthmus_spare_joined", "gauge",
              "1: the spare cluster has joined while the program runs. 0: it has left.");
  for (const auto& [cluster, is_there] : counts.spares) {
    text.sample({{"run", job}, {"cluster", cluster}}, is_there ? 1 : 0);
  }
  add_totals(text, job, world, counts);
  add_doors(text, job, counts.doors);
  return text.text();
}

}  // namespace isthmus::daemon
