// Accepts the connections to a service and reads whose they claim to be, within bounds of time and
// number. It leaves all bytes in the socket.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "daemon/service/opening.hpp"
#include "net/door/strangers.hpp"

namespace isthmus::daemon {

/// Hears from a Doorway, on the thread of its io_context and never after its end. A slot does not
/// block or throw, or end the doorway.
class DoorwayUser {
 public:
  /// Connections from this address may come.
  virtual bool allowed(const std::string& /*address*/) { return true; }
  /// False: it has no space now, and is tried again. True: it has taken the socket.
  virtual bool named(asio::ip::tcp::socket& socket, const std::string& from,
                     const Opening& opening) = 0;
  /// A connection is turned away.
  virtual void refused(const std::string& from, const std::string& why) = 0;
  /// As net::accept_all's.
  virtual void short_of_files(const std::string& sentence) = 0;

 protected:
  ~DoorwayUser() = default;
};

class Doorway {
 public:
  /// The user outlives this object.
  Doorway(asio::io_context& io, DoorwayUser& user);
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
