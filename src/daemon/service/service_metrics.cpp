#include "daemon/service/service_metrics.hpp"

#include <fmt/format.h>

#include <functional>

namespace isthmus::daemon {

std::string service_metrics(const std::map<std::string, UserCounts>& counts,
                            const std::map<std::string, UserCounts>& past, std::uint64_t refused) {
  std::map<std::string, UserCounts> all = past;
  for (const auto& [user, now] : counts) {
    UserCounts& sum = all[user];
    sum.jobs = now.jobs;
    sum.connections = now.connections;
    sum.bytes += now.bytes;
    sum.refused += now.refused;
    sum.throttled += now.throttled;
    for (const auto& [key, of] : now.keys) {
      KeyCounts& own = sum.keys[key];
      own.connections = of.connections;
      own.bytes += of.bytes;
      own.refused += of.refused;
      own.throttled += of.throttled;
    }
  }
  std::string text;
  const auto family = [&](const char* name, const char* kind, const char* help,
                          const std::function<std::string(const UserCounts&)>& value) {
    text += fmt::format("# HELP isthmus_service_{0} {2}\n# TYPE isthmus_service_{0} {1}\n", name,
                        kind, help);
    for (const auto& [user, of] : all) {
      text += fmt::format("isthmus_service_{}{{user=\"{}\"}} {}\n", name, user, value(of));
    }
  };
  family("jobs", "gauge", "Jobs that meet here.",
         [](const UserCounts& of) { return std::to_string(of.jobs); });
  family("connections", "gauge", "Connections of the user's jobs.",
         [](const UserCounts& of) { return std::to_string(of.connections); });
  family("bytes_total", "counter", "Bytes passed on, both ways.",
         [](const UserCounts& of) { return std::to_string(of.bytes); });
  family("refused_total", "counter", "Connections that were refused, and calls not answered.",
         [](const UserCounts& of) { return std::to_string(of.refused); });
  family("throttled_seconds_total", "counter", "Time that connections have waited for the rate.",
         [](const UserCounts& of) { return fmt::format("{:.3f}", of.throttled); });
  const auto by_key = [&](const char* name, const char* kind, const char* help,
                          const std::function<std::string(const KeyCounts&)>& value) {
    text += fmt::format("# HELP isthmus_service_key_{0} {2}\n# TYPE isthmus_service_key_{0} {1}\n",
                        name, kind, help);
    for (const auto& [user, of] : all) {
      for (const auto& [key, counts_of] : of.keys) {
        text += fmt::format("isthmus_service_key_{}{{user=\"{}\",key=\"{}\"}} {}\n", name, user,
                            key, value(counts_of));
      }
    }
  };
  by_key("connections", "gauge", "Connections with the key.",
         [](const KeyCounts& of) { return std::to_string(of.connections); });
  by_key("bytes_total", "counter", "Bytes passed on for the key, both ways.",
         [](const KeyCounts& of) { return std::to_string(of.bytes); });
  by_key("refused_total", "counter", "Connections with the key that were refused.",
         [](const KeyCounts& of) { return std::to_string(of.refused); });
  by_key("throttled_seconds_total", "counter",
         "Time that connections have waited for the rate of their key.",
         [](const KeyCounts& of) { return fmt::format("{:.3f}", of.throttled); });
  text += fmt::format(
      "# HELP isthmus_service_strangers_total Connections refused that were of no user.\n"
      "# TYPE isthmus_service_strangers_total counter\nisthmus_service_strangers_total {}\n",
      refused);
  return text;
}

}  // namespace isthmus::daemon
