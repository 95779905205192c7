#include "lab/segments.hpp"

#include <algorithm>
#include <cstring>

#include "lab/bytes.hpp"
#include "lab/virtio.hpp"

namespace isthmus::lab {
namespace {

constexpr std::uint8_t kFin = 0x01, kPsh = 0x08, kCwr = 0x80;

VirtioHeader virtio_of(std::span<const std::byte> frame) {
  VirtioHeader header;
  std::memcpy(&header, frame.data(), kVirtio);
  return header;
}

std::uint32_t sum_words(std::span<const std::byte> bytes, std::uint32_t sum) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += read16(bytes, i);
  return sum;
}

std::uint16_t fold(std::uint32_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

}  // namespace

std::uint32_t Segments::bytes_of(std::uint32_t first, std::uint32_t n) const {
  if (headers == 0) return ip_bytes;
  const std::uint32_t begin = first * size;
  const std::uint32_t end = std::min(begin + n * size, payload);
  return end - begin + n * headers;
}

Segments segments_of(std::span<const std::byte> frame) {
  Segments whole;
  if (frame.size() < kVirtio + 20) return whole;
  const auto ip = frame.subspan(kVirtio);
  whole.ip_bytes = static_cast<std::uint32_t>(ip.size());
  const VirtioHeader virtio = virtio_of(frame);
  const std::size_t tcp = virtio.csum_start;
  if ((virtio.gso_type & ~kGsoEcn) != kGsoTcp4 || virtio.gso_size == 0 || read8(ip, 0) >> 4 != 4 ||
      tcp != (read8(ip, 0) & 15U) * 4 || tcp < 20 || tcp + 20 > ip.size()) {
    return whole;
  }
  const std::size_t headers = tcp + (read8(ip, tcp + 12) >> 4) * 4U;
  if (headers < tcp + 20 || headers >= ip.size()) return whole;
  Segments found;
  found.headers = static_cast<std::uint32_t>(headers);
  found.payload = static_cast<std::uint32_t>(ip.size() - headers);
  found.size = virtio.gso_size;
  found.count = (found.payload + found.size - 1) / found.size;
  found.ip_bytes = found.payload + found.count * found.headers;
  return found;
}

std::size_t cut(std::span<const std::byte> frame, const Segments& segments, std::uint32_t first,
                std::uint32_t n, std::span<std::byte> out) {
  const std::uint32_t offset = first * segments.size;
  const std::uint32_t payload = std::min(n * segments.size, segments.payload - offset);
  const std::size_t headers = kVirtio + segments.headers;
  std::memcpy(out.data(), frame.data(), headers);
  std::memcpy(out.data() + headers, frame.data() + headers + offset, payload);

  VirtioHeader virtio = virtio_of(frame);
  const auto ip = out.subspan(kVirtio, segments.headers);
  const std::size_t tcp = virtio.csum_start;
  if (n == 1) {
    virtio.gso_type = kGsoNone;
    virtio.gso_size = 0;
  }
  std::memcpy(out.data(), &virtio, kVirtio);

  write16(ip, 2, static_cast<std::uint16_t>(segments.headers + payload));
  write16(ip, 4, static_cast<std::uint16_t>(read16(ip, 4) + first));
  write16(ip, 10, 0);
  write16(ip, 10, static_cast<std::uint16_t>(~fold(sum_words(ip.first(tcp), 0))));

  write32(ip, tcp + 4, read32(ip, tcp + 4) + offset);
  std::uint8_t flags = read8(ip, tcp + 13);
  if (first + n < segments.count) flags &= static_cast<std::uint8_t>(~(kFin | kPsh));
  if (first > 0) flags &= static_cast<std::uint8_t>(~kCwr);
  ip[tcp + 13] = std::byte{flags};
  // The receiving side completes the checksum; until then it holds the pseudo header's sum.
  const auto length = static_cast<std::uint32_t>(segments.headers - tcp + payload);
  write16(ip, tcp + 16, fold(sum_words(ip.subspan(12, 8), read8(ip, 9) + length)));
  return headers + payload;
}

bool spoil(std::span<std::byte> frame) {
  if (frame.size() < kVirtio + 40) return false;
  const auto ip = frame.subspan(kVirtio);
  const VirtioHeader virtio = virtio_of(frame);
  const std::size_t tcp = virtio.csum_start;
  if ((virtio.flags & kNeedsChecksum) == 0 || read8(ip, 0) >> 4 != 4 || read8(ip, 9) != 6 ||
      tcp < 20 || tcp + 20 > ip.size() || tcp + (read8(ip, tcp + 12) >> 4) * 4U >= ip.size()) {
    return false;
  }
  frame.back() ^= std::byte{0x20};
  return true;
}

}  // namespace isthmus::lab
