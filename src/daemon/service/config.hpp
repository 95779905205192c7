// The settings in the file of `isthmusd serve --config`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/service/limits.hpp"

namespace isthmus::daemon {

struct ServiceConfig {
  std::vector<std::string> listen{"tcp:0.0.0.0:7500"};
  std::string keys;                ///< the folder
  std::vector<std::string> allow;  ///< subnets; empty: from anywhere
  std::string audit;               ///< a file; empty: standard error
  std::string metrics;             ///< "tcp:host:port"; empty: none
  int drain = 300;                 ///< seconds that jobs have to end after SIGTERM
  UserLimits limits;

  /// Whether a host of this address may connect.
  bool allows(const std::string& address) const;
};

/// Throws Failure that names the file and the key.
ServiceConfig read_service_config(const std::string& file);

/// "1 Gbit/s", "100 MB/s": bytes a second; "256 MiB": bytes. Throws Failure; `key` is whose value.
std::uint64_t parse_rate(const std::string& key, const std::string& text);
std::uint64_t parse_size(const std::string& key, const std::string& text);

}  // namespace isthmus::daemon
