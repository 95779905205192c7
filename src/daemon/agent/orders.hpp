// The launcher's messages to an agent, by their names (docs/control.md).
#pragma once

#include <functional>
#include <map>
#include <string>

#include "daemon/control/control_channel.hpp"

namespace isthmus::daemon {

/// Throws Failure: the message `op` came before `first`.
[[noreturn]] void too_early(const std::string& op, const std::string& first);

/// The types that carry messages out enter them here. No message comes after the end of one.
class Orders {
 public:
  explicit Orders(ControlChannel& channel) : channel_(channel) {}

  template <class Type>
  void on(const char* op, Type& type, void (Type::*order)(const ControlMessage&)) {
    orders_[op] = [&type, order](const ControlMessage& message) { (type.*order)(message); };
  }
  /// Carries the message out. If that fails, the answer is `error`.
  void take(const ControlMessage& message);
  /// Answers `error`.
  void fail(const std::string& sentence, const std::string& remedy = "");

 private:
  ControlChannel& channel_;
  std::map<std::string, std::function<void(const ControlMessage&)>> orders_;
};

}  // namespace isthmus::daemon
