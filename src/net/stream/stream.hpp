// A connected, authenticated byte stream to another node. Transports differ behind this face.
// Reading and writing never block: they move what can be moved and say what to wait for.
#pragma once

#include <sys/uio.h>

#include <asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

namespace isthmus::net {

/// TCP and unix sockets alike.
using Socket = asio::generic::stream_protocol::socket;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Wait : std::uint8_t { None, Readable, Writable };
  /// The carrier of its bytes: a socket, memory of one host, UCX.
  enum class Leg : std::uint8_t { Socket, Memory, Ucx };
  struct Moved {
    std::size_t bytes = 0;   ///< read, or taken to be written
    Wait wait = Wait::None;  ///< None: call again. Else: nothing more moves before that
    std::error_code error;   ///< asio::error::eof: the other end has closed
  };
  using Ready = std::function<void(const std::error_code& error)>;

  Stream(Socket socket, std::string where);
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Fills `into` in order.
  virtual Moved read(std::span<const iovec> into) = 0;
  /// May take bytes that it has yet to write: with `wait` set, call again when that is there, even
  /// with nothing more to write.
  virtual Moved write(std::span<const iovec> from) = 0;

  /// `ready` is called once, never from within the call, also (with an error) after close(). At
  /// most one wait of each kind at a time.
  virtual void wait(Wait what, Ready ready);
  /// Within `ready`, by who gave it: its wait begins again, with the same `ready`. False: it does
  /// not, here.
  virtual bool wait_again(Wait /*what*/) { return false; }
  /// Its waits have asked for room to write, and asio goes on reporting that there is some, at each
  /// wait to read (1.22). Ends these reports. No wait is under way.
  void forget_writing();
  virtual void close();
  virtual Leg leg() const { return Leg::Socket; }
  /// Its bytes go without encryption between hosts, whatever the protection of its socket.
  virtual bool exposed() const { return false; }
  /// True if the stream copies its input once, from any number of places. False for encrypted
  /// streams.
  virtual bool gathers() const { return false; }

  Socket& socket() { return socket_; }
  /// The other end's address, for messages.
  const std::string& where() const { return where_; }

 private:
  Socket socket_;
  std::string where_;
};

/// Whether a stream that failed with this was ended by its other end; otherwise the network, or
/// this end, failed.
bool ended_by_peer(const std::error_code& error);

/// Their bytes.
std::size_t total(std::span<const iovec> parts);

/// Translates errno after a socket's call that moved nothing.
Stream::Moved blocked_or_failed(int error, Stream::Wait wait);

}  // namespace isthmus::net
