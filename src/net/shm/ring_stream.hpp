// A stream between two processes of one host: a ring in shared memory for each direction, and the
// unix socket by which the memory came. Bytes on the socket are wake-ups and say nothing else; its
// end is the end of the stream, after what is left in the ring.
#pragma once

#include <asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "net/shm/ring.hpp"
#include "net/shm/shared_memory.hpp"
#include "net/stream/stream.hpp"
#include "net/stream/watch.hpp"

namespace isthmus::net {

class RingStream final : public Stream, public Watched {
 public:
  enum class Side : std::uint8_t { Maker, Taker };  ///< of the memory
  /// Bytes of each ring: a power of two from the one to the other.
  static constexpr std::size_t kLeast = std::size_t{4} << 10, kMost = std::size_t{1} << 20;

  /// Takes the socket of an authenticated stream on which nothing has been said since. Both throw
  /// std::runtime_error or std::system_error.
  static std::shared_ptr<RingStream> offer(Stream& plain, std::size_t ring_bytes);
  static asio::awaitable<std::shared_ptr<RingStream>> accept(std::shared_ptr<Stream> plain);

  /// Memory for two rings. Throws std::system_error.
  static SharedMemory make(std::size_t ring_bytes);
  /// Takes the memory that the other end has made. Throws std::runtime_error with a sentence.
  static SharedMemory take(Descriptor file);
  /// The next byte of a stream, and the descriptor that comes with it.
  static asio::awaitable<Descriptor> descriptor(std::shared_ptr<Stream> plain);

  RingStream(Socket socket, std::string where, SharedMemory memory, Side side);
  ~RingStream() override;

  Moved read(std::span<const iovec> into) override;
  Moved write(std::span<const iovec> from) override;
  void wait(Wait what, Ready ready) override;
  bool wait_again(Wait what) override;
  void close() override;
  Leg leg() const override { return Leg::Memory; }

  // ---- for Watch --------------------------------------------------------------------------------

  /// Ends the waits that have something to tell. False: none had.
  bool look() override;
  /// Some wait has something to tell.
  bool ready() const override;
  /// Whether the other side is to wake this one when a wait has something to tell.
  void asleep(bool is) override;
  void forget() override;

 private:
  void wake_peer();
  void listen();
  void hear();

  SharedMemory memory_;
  RingWriter writer_;
  RingReader reader_;
  Watch& watch_;
  bool watched_ = true;        // until the io_context ends: the waits own this stream
  Ready readable_, writable_;  // under way
  Ready* ending_ = nullptr;    // a wait to read that has just ended
  bool listening_ = false;     // for the socket
  bool closed_ = false;
  std::error_code ended_;  // why no more is written by the other end
  bool told_end_ = false;  // a read has said so
};

}  // namespace isthmus::net
