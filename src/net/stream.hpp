// A connected, authenticated byte stream to another node. Transports differ behind this face.
#pragma once

#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace isthmus::net {

/// TCP and unix sockets alike.
using Socket = asio::generic::stream_protocol::socket;

class Stream {
 public:
  using Done = std::function<void(const std::error_code& error, std::size_t bytes)>;

  explicit Stream(std::string where) : where_(std::move(where)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// At most one read and one write at a time. `done` is never called from within the call, and
  /// is called also after close(). Buffers stay valid until then.
  virtual void read_some(asio::mutable_buffer buffer, Done done) = 0;
  virtual void write(const std::vector<asio::const_buffer>& buffers, Done done) = 0;
  virtual void close() = 0;

  /// The other end's address, for messages.
  const std::string& where() const { return where_; }

 private:
  std::string where_;
};

}  // namespace isthmus::net
