#include "lab/segments.hpp"

#include <gtest/gtest.h>

#include "lab/testing.hpp"

namespace isthmus::lab {
namespace {

std::uint16_t ones_sum(std::span<const std::byte> bytes, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += read16(bytes, i);
  if (bytes.size() % 2) sum += std::uint32_t{read8(bytes, bytes.size() - 1)} << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

struct Cut {
  explicit Cut(const Frame& frame, std::uint32_t first, std::uint32_t n) : bytes(frame.size()) {
    bytes.resize(cut(frame, segments_of(frame), first, n, bytes));
    std::memcpy(&virtio, bytes.data(), kVirtio);
  }
  std::span<const std::byte> ip() const { return std::span(bytes).subspan(kVirtio); }
  std::span<const std::byte> tcp() const { return ip().subspan(20); }

  Frame bytes;
  VirtioHeader virtio{};
};

TEST(Segments, OfASuperPacket) {
  const auto segments = segments_of(tcp_frame(5000, {.segment = 1448}));
  EXPECT_EQ(segments.count, 4U);
  EXPECT_EQ(segments.headers, 52U);
  EXPECT_EQ(segments.payload, 5000U);
  EXPECT_EQ(segments.ip_bytes, 5000U + 4 * 52);
  EXPECT_EQ(segments.bytes_of(0, 1), 1500U);
  EXPECT_EQ(segments.bytes_of(3, 1), 5000U - 3 * 1448 + 52);
  EXPECT_EQ(segments.bytes_of(1, 3), 5000U - 1448 + 3 * 52);
}

TEST(Segments, AnythingElseIsOne) {
  const Frame plain = tcp_frame(100);
  EXPECT_EQ(segments_of(plain).count, 1U);
  EXPECT_EQ(segments_of(plain).headers, 0U);
  EXPECT_EQ(segments_of(plain).ip_bytes, 152U);
  EXPECT_EQ(segments_of(plain).bytes_of(0, 1), 152U);
  EXPECT_EQ(segments_of(ip_frame(17, 0, Frame(30))).ip_bytes, 50U);
  EXPECT_EQ(segments_of({}).count, 1U);
}

TEST(Segments, LengthsOfMalformedHeadersAreNotTrusted) {
  const Frame good = tcp_frame(5000, {.segment = 1448});
  const auto with = [&](std::size_t at, int value) {
    Frame bad = good;
    bad[at] = std::byte(value);
    return segments_of(bad).headers;
  };
  EXPECT_EQ(with(kVirtio, 0x4f), 0U);            // IP header of 60 bytes: TCP begins elsewhere
  EXPECT_EQ(with(kVirtio, 0x65), 0U);            // not IPv4
  EXPECT_EQ(with(kVirtio + 20 + 12, 0x10), 0U);  // TCP header of 4 bytes
  EXPECT_EQ(with(6, 200), 0U);                   // csum_start elsewhere
  Frame short_one = good;
  short_one.resize(kVirtio + 45);
  EXPECT_EQ(segments_of(short_one).headers, 0U);
  short_one.resize(5);
  EXPECT_EQ(segments_of(short_one).count, 1U);
}

TEST(Segments, CutKeepsPayloadAndSequence) {
  const Frame frame = tcp_frame(5000, {.segment = 1448});
  const Cut middle(frame, 1, 2);
  EXPECT_EQ(read32(middle.tcp(), 4), 5000U + 1448);
  EXPECT_EQ(middle.ip().size(), 52U + 2 * 1448);
  EXPECT_EQ(read16(middle.ip(), 2), 52U + 2 * 1448);
  EXPECT_EQ(read16(middle.ip(), 4), 1001U);
  EXPECT_EQ(middle.virtio.gso_type, kGsoTcp4);
  EXPECT_TRUE(std::equal(middle.tcp().begin() + 32, middle.tcp().end(),
                         frame.begin() + kVirtio + 52 + 1448));
  const Cut last(frame, 3, 1);
  EXPECT_EQ(last.ip().size(), 52U + 5000 - 3 * 1448);
  EXPECT_EQ(last.virtio.gso_type, kGsoNone);
  EXPECT_EQ(last.virtio.gso_size, 0U);
}

TEST(Segments, ChecksumsAreRight) {
  const Frame frame = tcp_frame(5000, {.segment = 1448});
  for (std::uint32_t first = 0; first < 4; ++first) {
    const Cut part(frame, first, 1);
    EXPECT_EQ(ones_sum(part.ip().first(20)), 0xffff);
    // As the receiving side does with a partial checksum: sum the segment and complement it.
    const auto stored = static_cast<std::uint16_t>(~ones_sum(part.tcp()));
    Frame whole(part.tcp().begin(), part.tcp().end());
    write16(whole, 16, stored);
    const auto length = static_cast<std::uint32_t>(whole.size());
    EXPECT_EQ(ones_sum(whole, ones_sum(part.ip().subspan(12, 8), 6 + length)), 0xffff) << first;
  }
}

TEST(Segments, FlagsStandWhereTheyBelong) {
  constexpr std::uint8_t kAll = 0x80 | 0x10 | 0x08 | 0x01;  // CWR ACK PSH FIN
  const Frame frame = tcp_frame(4000, {.flags = kAll, .segment = 1448});
  EXPECT_EQ(read8(Cut(frame, 0, 1).tcp(), 13), 0x80 | 0x10);
  EXPECT_EQ(read8(Cut(frame, 1, 1).tcp(), 13), 0x10);
  EXPECT_EQ(read8(Cut(frame, 2, 1).tcp(), 13), 0x10 | 0x08 | 0x01);
  EXPECT_EQ(read8(Cut(frame, 1, 2).tcp(), 13), 0x10 | 0x08 | 0x01);
}

}  // namespace
}  // namespace isthmus::lab
