// Frames for the lab's unit tests.
#pragma once

#include <cstring>
#include <vector>

#include "lab/bytes.hpp"
#include "lab/virtio.hpp"

namespace isthmus::lab {

using Frame = std::vector<std::byte>;

constexpr std::uint32_t address(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}

/// An IPv4 packet without options, from 10.1.0.1.
inline Frame ip_frame(std::uint8_t protocol, std::uint32_t to, const Frame& payload) {
  Frame frame(kVirtio + 20);
  const auto ip = std::span(frame).subspan(kVirtio);
  ip[0] = std::byte{0x45};
  write16(ip, 2, static_cast<std::uint16_t>(20 + payload.size()));
  write16(ip, 4, 1000);
  ip[8] = std::byte{64};
  ip[9] = std::byte{protocol};
  write32(ip, 12, address(10, 1, 0, 1));
  write32(ip, 16, to);
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

struct TcpOptions {
  std::uint8_t flags = 0x10;
  std::uint32_t sequence = 5000;
  std::uint16_t segment = 0;  ///< payload of each segment of a super-packet; 0: no super-packet
  std::uint32_t to = address(10, 2, 0, 1);
};

/// A TCP segment or super-packet with 12 bytes of options (headers: 52 bytes).
inline Frame tcp_frame(std::size_t payload, const TcpOptions& options = {}) {
  Frame tcp(32 + payload);
  write16(tcp, 0, 4000);
  write16(tcp, 2, 5001);
  write32(tcp, 4, options.sequence);
  tcp[12] = std::byte{0x80};
  tcp[13] = std::byte{options.flags};
  for (std::size_t i = 0; i < payload; ++i) tcp[32 + i] = std::byte(i * 7 % 251);
  Frame frame = ip_frame(6, options.to, tcp);
  VirtioHeader virtio{};
  virtio.flags = kNeedsChecksum;
  virtio.csum_start = 20;
  virtio.csum_offset = 16;
  virtio.hdr_len = 52;
  virtio.gso_type = options.segment ? kGsoTcp4 : kGsoNone;
  virtio.gso_size = options.segment;
  std::memcpy(frame.data(), &virtio, kVirtio);
  return frame;
}

}  // namespace isthmus::lab
