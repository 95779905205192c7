// The metrics of doors: how many connections each has turned away.
#pragma once

#include <map>
#include <string>

#include "daemon/metrics/exposition.hpp"
#include "net/door/strangers.hpp"

namespace isthmus::daemon {

using DoorCounts = std::map<std::string, net::DoorCount>;  // by the door's name

/// `run` is empty for doors that are of no run.
inline void add_doors(Exposition& text, const std::string& run, const DoorCounts& doors) {
  const auto family = [&](const char* name, const char* help, std::uint64_t net::DoorCount::*what) {
    text.family(name, "counter", help);
    for (const auto& [door, count] : doors) {
      if (run.empty()) {
        text.sample({{"door", door}}, count.*what);
      } else {
        text.sample({{"run", run}, {"door", door}}, count.*what);
      }
    }
  };
  family("isthmus_door_refused_total",
         "Connections that were refused, or ended, before they had proved anything.",
         &net::DoorCount::refused);
  family("isthmus_door_dropped_total",
         "Connections that had proved nothing, and were closed to make room for newer ones.",
         &net::DoorCount::dropped);
}

}  // namespace isthmus::daemon
