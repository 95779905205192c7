// The server from which Prometheus reads metrics, by plain HTTP at /metrics. It serves anybody, and
// reads no headers.
#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "net/door/strangers.hpp"

namespace isthmus::daemon {

class MetricsServer {
 public:
  /// Serves `text()` at "tcp:host:port", on the thread of `io`. Throws Failure that names an
  /// address at which it cannot listen. `short_of_files` is as net::accept_all's.
  MetricsServer(asio::io_context& io, const std::string& address, std::function<std::string()> text,
                std::function<void(const std::string&)> short_of_files = {});
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Its address, with the port filled in.
  std::string address() const;
  /// Counts connections without a whole request.
  net::DoorCount turned_away() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
