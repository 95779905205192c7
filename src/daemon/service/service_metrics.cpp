#include "daemon/service/service_metrics.hpp"

namespace isthmus::daemon {

std::string service_metrics(const std::map<std::string, UserCounts>& counts,
                            const std::map<std::string, UserCounts>& past, std::uint64_t refused,
                            const DoorCounts& doors) {
  std::map<std::string, UserCounts> all = past;
  for (const auto& [user, now] : counts) {
    UserCounts& sum = all[user];
    sum.jobs = now.jobs;
    sum.connections = now.connections;
    sum.bytes += now.bytes;
    sum.refused += now.refused;
    sum.dropped += now.dropped;
    sum.throttled += now.throttled;
    for (const auto& [key, of] : now.keys) {
      KeyCounts& own = sum.keys[key];
      own.connections = of.connections;
      own.bytes += of.bytes;
      own.refused += of.refused;
      own.throttled += of.throttled;
    }
  }
  Exposition text;
  const auto by_user = [&](const char* name, const char* type, const char* help,
                           const auto& value) {
    text.family(name, type, help);
    for (const auto& [user, of] : all) text.sample({{"user", user}}, value(of));
  };
  by_user("isthmus_service_jobs", "gauge", "Jobs that meet here.",
          [](const UserCounts& of) { return of.jobs; });
  by_user("isthmus_service_connections", "gauge", "Connections of the user's jobs.",
          [](const UserCounts& of) { return of.connections; });
  by_user("isthmus_service_bytes_total", "counter", "Bytes passed on, both ways.",
          [](const UserCounts& of) { return of.bytes; });
  by_user("isthmus_service_refused_total", "counter",
          "Connections that named the user and were refused, and calls that were not answered.",
          [](const UserCounts& of) { return of.refused; });
  by_user("isthmus_service_dropped_total", "counter",
          "Those of the refused connections that had proved nothing and were closed to make room.",
          [](const UserCounts& of) { return of.dropped; });
  by_user("isthmus_service_throttled_seconds_total", "counter",
          "Time that connections have waited for the rate.",
          [](const UserCounts& of) { return of.throttled; });
  const auto by_key = [&](const char* name, const char* type, const char* help, const auto& value) {
    text.family(name, type, help);
    for (const auto& [user, of] : all) {
      for (const auto& [key, counts_of] : of.keys) {
        text.sample({{"user", user}, {"key", key}}, value(counts_of));
      }
    }
  };
  by_key("isthmus_service_key_connections", "gauge", "Connections with the key.",
         [](const KeyCounts& of) { return of.connections; });
  by_key("isthmus_service_key_bytes_total", "counter", "Bytes passed on for the key, both ways.",
         [](const KeyCounts& of) { return of.bytes; });
  by_key("isthmus_service_key_refused_total", "counter",
         "Connections with the key that were refused.",
         [](const KeyCounts& of) { return of.refused; });
  by_key("isthmus_service_key_throttled_seconds_total", "counter",
         "Time that connections have waited for the rate of their key.",
         [](const KeyCounts& of) { return of.throttled; });
  text.family("isthmus_service_strangers_total", "counter",
              "Connections refused that were of no user.");
  text.sample({}, refused);
  add_doors(text, "", doors);
  return text.text();
}

}  // namespace isthmus::daemon
