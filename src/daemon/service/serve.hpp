// `isthmusd serve`: one port at which the jobs of many users meet (docs/service.md).
#pragma once

#include <string>

namespace isthmus::daemon {

/// Until SIGTERM, and until the jobs that are there have ended. An exit status; what is wrong with
/// the file is told on standard error.
int run_service(const std::string& config_file, const std::string& self);

/// `isthmusd key add|list|revoke`.
int add_service_key(const std::string& folder, const std::string& user, const std::string& out);
int list_service_keys(const std::string& folder);
int revoke_service_key(const std::string& folder, const std::string& name);

}  // namespace isthmus::daemon
