// A relay of a run has this beside its gateway. It joins connections of this run's gateways and of
// other runs' gateways, as a service does for its users (docs/joining.md). On the thread of the
// io_context.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "daemon/log/rare_lines.hpp"
#include "daemon/service/doorway.hpp"
#include "daemon/service/user_worker.hpp"

namespace isthmus::daemon {

class GuestDoor final : DoorwayUser {
 public:
  /// `self` is the path of this program, which it starts once more to serve the connections.
  /// Connections must prove the key, whose secret is of raw bytes. Throws Failure.
  GuestDoor(asio::io_context& io, const std::string& self, const std::string& key,
            const std::string& secret);

  /// As Doorway::listen; of "tcp:HOST:FIRST-LAST" at the first port that is free.
  std::string listen(const std::string& address);
  net::DoorCount turned_away() const { return doorway_.turned_away(); }

 private:
  void log_turned_away(const std::string& what);
  bool named(asio::ip::tcp::socket& socket, const std::string& from,
             const Opening& opening) override;
  void refused(const std::string& from, const std::string& why) override;
  void short_of_files(const std::string& sentence) override;

  std::string key_;
  log::RareLines<std::string> rare_;
  std::unique_ptr<UserWorker> worker_;
  Doorway doorway_;
};

}  // namespace isthmus::daemon
