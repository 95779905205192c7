// An agent waits this long for a launcher that it does not hear (docs/control.md, `alive`).
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>

#include "daemon/control/control_channel.hpp"

namespace isthmus::daemon {

/// Calls `over` once nothing has come from the launcher for longer than the patience. Any
/// byte counts, also a part of a message. While the channel is held, nothing is missed.
class Patience {
 public:
  Patience(asio::io_context& context, const ControlChannel& channel, std::function<void()> over)
      : channel_(channel), timer_(context), over_(std::move(over)) {}

  /// Takes effect now. With 0 the launcher may be silent.
  void have(std::chrono::milliseconds patience);
  void end() { have({}); }
  /// 0: none.
  std::chrono::milliseconds length() const { return patience_; }

 private:
  void wait();

  const ControlChannel& channel_;
  asio::steady_timer timer_;
  std::function<void()> over_;
  std::chrono::milliseconds patience_{};
  std::uint64_t heard_ = 0;  // bytes, when a part last ended
  int silences_ = 0;         // parts in which nothing was heard
};

}  // namespace isthmus::daemon
