// One launcher's messages over a pair of descriptors, on an io_context.
#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "daemon/control/control.hpp"

namespace isthmus::daemon {

class ControlChannel {
 public:
  struct Events {
    std::function<void(ControlMessage)> message;
    /// No more messages will come: the other end closed (empty text), or sent bytes that are not a
    /// message.
    std::function<void(const std::string& trouble)> closed;
    /// send() has queued more than kHighWater bytes, or the queue has emptied since.
    std::function<void(bool full)> congested;
  };
  static constexpr std::size_t kHighWater = std::size_t{4} << 20;

  /// Takes over both descriptors.
  ControlChannel(asio::io_context& context, int in, int out, Events events);

  void send(nlohmann::json body, std::string_view bytes = {});
  bool idle() const { return queue_.empty(); }  ///< all that was sent is written
  /// All that came was read, and ended with a whole message.
  bool read_whole() const { return !held_ && decoder_.empty(); }
  bool held() const { return held_; }
  std::uint64_t received() const { return received_; }  ///< bytes, so far
  /// Closes both descriptors, as if the other end had closed.
  void hang_up();
  /// The other end is gone: what was sent, and what is sent from now on, is dropped.
  void drop();
  /// While held, nothing is read, so the launcher's writes wait. It still notices if the other end
  /// closes (where the descriptor is a pipe or socket).
  void hold(bool held);

 private:
  void read();
  void dispatch();
  void write();
  void close(const std::string& trouble);

  asio::posix::stream_descriptor in_;
  asio::posix::stream_descriptor out_;
  Events events_;
  ControlDecoder decoder_;
  std::array<char, 65536> block_{};
  std::string queue_;
  std::size_t written_ = 0;  // bytes of queue_
  std::uint64_t received_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool held_ = false;
  bool closed_ = false;
  bool full_ = false;
  bool dropped_ = false;
};

}  // namespace isthmus::daemon
