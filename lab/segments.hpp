// TCP super-packets: their size on the wire, and how they are cut into smaller ones.
//
// A frame is a VirtioHeader and an IP packet, as a TUN device with IFF_VNET_HDR gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace isthmus::lab {

struct Segments {
  std::uint32_t count = 1;
  std::uint32_t headers = 0;   ///< IP and TCP headers of each; 0: the frame cannot be cut
  std::uint32_t payload = 0;   ///< TCP payload of all
  std::uint32_t size = 0;      ///< payload of each but the last
  std::uint32_t ip_bytes = 0;  ///< of all, each with its headers

  /// IP bytes of `n` segments from `first` on.
  std::uint32_t bytes_of(std::uint32_t first, std::uint32_t n) const;
};

/// Looks at a frame. One that is malformed, or of a kind that is not known, counts as one segment.
Segments segments_of(std::span<const std::byte> frame);

/// Writes segments `first` to `first + n - 1` of a frame as a frame of their own. Sequence number,
/// flags, lengths and checksums are those that the kernel's own segmentation would make. Returns
/// its size. `segments` is of this frame and has headers; `out` has room for the frame.
std::size_t cut(std::span<const std::byte> frame, const Segments& segments, std::uint32_t first,
                std::uint32_t n, std::span<std::byte> out);

/// Changes the last byte of the payload of a TCP frame whose checksum the receiving side completes,
/// so that the checksum holds. False: the frame is of another kind, and as it was.
bool spoil(std::span<std::byte> frame);

}  // namespace isthmus::lab
