// The bytes of a frame in memory, and the making of them.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/wire/frame_memory.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

/// The bytes of one frame, header included. Writers hold it until written: the conduit may have
/// let go of it by then.
struct Packet {
  FrameKind kind{};
  std::size_t size = 0;
  FrameMemory::Block data;
  std::size_t room = 0;  ///< bytes of `data`
  Receipt receipt{};
  /// The last bytes, if they are not in `data` yet: they stay there until own().
  std::span<const std::byte> borrowed{};
  void own();
  void set_header(const FrameHeader& header);
  bool express() const { return size <= kHeaderSize + kExpressBody; }
  std::span<const std::byte> bytes() const { return {data.get(), size}; }
  std::span<std::byte> body() { return {data.get() + kHeaderSize, size - kHeaderSize}; }
};
using PacketPtr = std::shared_ptr<const Packet>;

/// A packet with room for a body of `body` bytes, and for the header before it.
std::shared_ptr<Packet> packet_for(std::size_t body);

/// Makes the packets of a conduit. Small ones take the memory of earlier ones.
class PacketMaker {
 public:
  /// The payload is not copied with `borrow`: it must stay until own_some() returns false.
  std::shared_ptr<Packet> make(const FrameHeader& header, std::span<const std::byte> head,
                               std::span<const std::byte> payload, bool borrow = false);
  /// The conduit needs the packet no more. Its memory is used again if no writer holds it.
  void recycle(std::shared_ptr<Packet> packet);
  /// Copies about `bytes` bytes of borrowed payloads, of packets that somebody still holds. False:
  /// nothing is borrowed any more.
  bool own_some(std::size_t bytes);

 private:
  std::shared_ptr<Packet> take(std::size_t body);

  std::vector<std::shared_ptr<Packet>> spare_;  // small
  std::deque<std::shared_ptr<Packet>> borrowed_;
};

}  // namespace isthmus::core
