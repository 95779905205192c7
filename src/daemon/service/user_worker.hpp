// A service's end of the process that serves one user.
#pragma once

#include <sys/types.h>

#include <asio/io_context.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/service/keys.hpp"
#include "daemon/service/limits.hpp"
#include "daemon/service/opening.hpp"
#include "daemon/service/user_desk.hpp"
#include "daemon/service/worker_channel.hpp"

namespace isthmus::daemon {

class UserWorker {
 public:
  struct Events {
    std::function<void(nlohmann::json event)> audit;
    std::function<void()> gone;  ///< the process has ended, by itself
  };

  /// Starts `self service-user`. Throws Failure.
  UserWorker(asio::io_context& io, std::string user, const std::string& self, Events events);

  /// Sends the process those of the keys that are the user's.
  void tell(const std::vector<ServiceKey>& keys, const UserLimits& limits);
  void drain();
  /// Hands a connection over; it stays the caller's to close. False: the process does not keep up.
  bool serve(int socket, bool v6, const std::string& from, const Opening& opening);
  const UserCounts& counts() const { return counts_; }
  /// No connection is open, nor under way to the process.
  bool idle() const { return counts_.connections == 0 && received_ == handed_; }
  pid_t pid() const { return pid_; }

 private:
  std::string user_;
  Events events_;
  pid_t pid_ = -1;
  UserCounts counts_;
  std::uint64_t handed_ = 0, received_ = 0;  // connections; the latter as `counts_` tells
  std::optional<WorkerChannel> channel_;     // its end is that of the process
};

}  // namespace isthmus::daemon
