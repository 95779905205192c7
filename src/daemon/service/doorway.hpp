// Accepts the connections to a service and reads whose they claim to be, within bounds of time and
// number. It leaves all bytes in the socket.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>

#include "daemon/service/opening.hpp"
#include "net/strangers.hpp"

namespace isthmus::daemon {

class Doorway {
 public:
  struct Events {
    std::function<bool(const std::string& address)> allowed;
    /// False: it has no space now, and is tried again. True: it has taken the socket.
    std::function<bool(asio::ip::tcp::socket& socket, const std::string& from,
                       const Opening& opening)>
        named;
    std::function<void(const std::string& from, const std::string& why)> refused;
    std::function<void(const std::string& sentence)> short_of_files;  ///< as net::accept_all's
  };

  Doorway(asio::io_context& io, Events events);
  ~Doorway();
  Doorway(const Doorway&) = delete;
  Doorway& operator=(const Doorway&) = delete;

  /// Returns the address with the port filled in. Throws Failure that names it.
  std::string listen(const std::string& address);
  /// Connections that did not say whose they are, or come from an address that may not.
  net::DoorCount turned_away() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
