// Between the service and the process that serves one user: messages of JSON, one a packet, some
// with a descriptor.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {

class WorkerChannel {
 public:
  using Heard = std::function<void(const nlohmann::json& message, FileDescriptor descriptor)>;

  /// Takes over one end of a socketpair of SOCK_SEQPACKET.
  WorkerChannel(asio::io_context& io, FileDescriptor socket, Heard heard,
                std::function<void()> closed);
  ~WorkerChannel();
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;

  /// False: the other end does not keep up, or is gone; nothing was sent.
  bool send(const nlohmann::json& message, int descriptor = -1);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
