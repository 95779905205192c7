// `isthmusd serve`: one port at which the jobs of many users meet (docs/service.md).
#pragma once

#include <string>

namespace isthmus::daemon {

/// Until SIGTERM, and until the jobs that are there have ended. Returns the exit status; standard
/// error says what is wrong with the file.
int run_service(const std::string& config_file, const std::string& self);

/// Limits of a key as `isthmusd key` is given them.
struct KeyLimitWords {
  int connections = 0;
  std::string rate, memory;
};

/// `isthmusd key add|limit|list|revoke`.
int add_service_key(const std::string& folder, const std::string& user, const std::string& out,
                    const KeyLimitWords& limits);
int limit_service_key(const std::string& folder, const std::string& name,
                      const KeyLimitWords& limits);
int list_service_keys(const std::string& folder);
int revoke_service_key(const std::string& folder, const std::string& name);

}  // namespace isthmus::daemon
