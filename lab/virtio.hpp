// The header that a TUN device with IFF_VNET_HDR puts before each packet. The kernel's own
// <linux/virtio_net.h> is not C++.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isthmus::lab {

struct VirtioHeader {
  std::uint8_t flags;
  std::uint8_t gso_type;
  std::uint16_t hdr_len;
  std::uint16_t gso_size;     ///< payload of each segment
  std::uint16_t csum_start;   ///< beginning of the transport header, in the packet
  std::uint16_t csum_offset;  ///< place of the checksum, after csum_start
};
static_assert(sizeof(VirtioHeader) == 10);

constexpr std::size_t kVirtio = sizeof(VirtioHeader);
constexpr std::uint8_t kNeedsChecksum = 1;                          // flags
constexpr std::uint8_t kGsoNone = 0, kGsoTcp4 = 1, kGsoEcn = 0x80;  // gso_type

}  // namespace isthmus::lab
