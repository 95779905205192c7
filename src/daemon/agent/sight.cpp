#include "daemon/agent/sight.hpp"

#include <sys/resource.h>

#include <chrono>
#include <utility>

#include "daemon/launch/ranks_here.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

namespace {

json crossed(const char* op, const GatewaySet* gateways, json direct) {
  return {{"op", op},
          {"links", gateways ? gateways->stats() : json::array()},
          {"direct", std::move(direct)},
          {"crossings", gateways ? gateways->crossing_stats() : json::array()},
          {"near", gateways ? gateways->near_stats() : json::array()},
          {"cpu", cpu_seconds()}};
}

}  // namespace

json stats(const GatewaySet* gateways) {
  return crossed("stats", gateways, gateways ? gateways->direct_stats() : json::array());
}

json look(const GatewaySet* gateways) {
  return crossed("look", gateways, gateways ? gateways->direct_stats_of_left() : json::array());
}

json processes_here() {
  auto processes = json::array();
  for (const auto& [rank, pid, program] : ranks_here()) {
    processes.push_back({{"rank", rank}, {"pid", pid}, {"program", program}});
  }
  return processes;
}

json clock_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace isthmus::daemon
