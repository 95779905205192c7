// Hears from a ConduitDriver what its conduit brings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/wire/frame.hpp"

namespace isthmus::net {

/// How a stream ended.
struct Loss {
  std::string reason;
  bool by_peer = false;  ///< as ended_by_peer()
};

/// The driver calls this on the thread that runs its io_context, and never after its close(). A
/// slot does not block or throw. It may submit to any conduit, flush or close this driver, and drop
/// its own pointer to it. Calls come one for each frame or event, none for each message in a frame.
class ConduitUser {
 public:
  /// As core::Conduit::Sink: false, and the user calls Conduit::consume() later. A frame that
  /// breaks the user's own rules is not the driver's business: it is consumed.
  virtual bool frame(const core::InFrame& frame, std::uint16_t hops) = 0;
  /// As core::Engine::place. Asked before each read, only of a user that
  /// ConduitDriver::For::Program has been said of. It does not call the driver.
  virtual core::Landing place(const core::InFrame& /*beginning*/) { return {}; }
  /// After each read, and when a stream takes more after it had been full: there may be room to
  /// submit, or all may have been flushed.
  virtual void progress() {}
  /// A stream has heard the peer's Hello. Once for each stream.
  virtual void connected() = 0;
  /// A stream ended, though the peer has not said Bye. ConduitDriver::streams() tells how many are
  /// left. The user may attach another, now or later.
  virtual void lost(const Loss& loss) = 0;
  /// The peer has said Bye, and all has arrived. Once.
  virtual void ended() = 0;
  /// The conduit has given up: the peer `reason`. The driver is closed, and this is its last call.
  virtual void dead(const std::string& reason) = 0;

 protected:
  ~ConduitUser() = default;
};

}  // namespace isthmus::net
