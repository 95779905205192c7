#include "daemon/agent/orders.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

void too_early(const std::string& op, const std::string& first) {
  throw Failure(fmt::format("the control message '{}' came before '{}'", op, first));
}

void Orders::take(const ControlMessage& message) {
  const std::string op = message.op();
  log::debug("the launcher says {}", op);
  try {
    const auto found = orders_.find(op);
    if (found == orders_.end()) {
      throw Failure(fmt::format("the control message '{}' is unknown to isthmusd " ISTHMUS_VERSION,
                                op.substr(0, 60)),
                    "Use the same version of Isthmus everywhere.");
    }
    found->second(message);
  } catch (const Failure& failure) {
    fail(failure.what(), failure.remedy());
  } catch (const std::exception& error) {
    fail(fmt::format("the request '{}' failed on {}: {}", op, host_name(), error.what()));
  }
}

void Orders::fail(const std::string& sentence, const std::string& remedy) {
  log::warn("{}", sentence);
  channel_.send({{"op", "error"}, {"message", sentence}, {"remedy", remedy}});
}

}  // namespace isthmus::daemon
