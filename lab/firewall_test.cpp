#include "lab/firewall.hpp"

#include <gtest/gtest.h>

#include "lab/testing.hpp"

namespace isthmus::lab {
namespace {

constexpr auto kNode = address(10, 2, 0, 1), kGateway = address(10, 2, 0, 100);
constexpr std::uint8_t kSyn = 0x02, kAck = 0x10, kRst = 0x04;

Frame icmp(std::uint8_t type, std::uint32_t to = kNode) {
  Frame payload(8);
  payload[0] = std::byte{type};
  return ip_frame(1, to, payload);
}
Frame tcp(std::uint8_t flags, std::uint32_t to = kNode) {
  return tcp_frame(0, {.flags = flags, .to = to});
}

TEST(Firewall, WithoutRulesEverythingPasses) {
  const Firewall open;
  EXPECT_TRUE(open.passes(tcp(kSyn)));
  EXPECT_TRUE(open.passes(ip_frame(17, kNode, Frame(8))));
  EXPECT_TRUE(open.passes({}));
}

TEST(Firewall, OnlyOpenAddressesCanBeConnectedTo) {
  Firewall wall;
  wall.set_open({{kGateway}});
  EXPECT_FALSE(wall.passes(tcp(kSyn)));
  EXPECT_TRUE(wall.passes(tcp(kSyn, kGateway)));
  EXPECT_FALSE(wall.passes(icmp(8)));
  EXPECT_TRUE(wall.passes(icmp(8, kGateway)));
  EXPECT_FALSE(wall.passes(ip_frame(17, kNode, Frame(8))));
  EXPECT_TRUE(wall.passes(ip_frame(17, kGateway, Frame(8))));
}

TEST(Firewall, AnswersComeIn) {
  Firewall wall;
  wall.set_open({std::vector<std::uint32_t>{}});
  EXPECT_TRUE(wall.passes(tcp(kSyn | kAck)));
  EXPECT_TRUE(wall.passes(tcp(kAck)));
  EXPECT_TRUE(wall.passes(tcp(kRst)));
  EXPECT_TRUE(wall.passes(icmp(0)));
  EXPECT_TRUE(wall.passes(icmp(3)));
  EXPECT_TRUE(wall.passes(tcp_frame(5000, {.segment = 1448})));
}

TEST(Firewall, WhatCannotBeReadStaysOutside) {
  Firewall wall;
  wall.set_open({std::vector<std::uint32_t>{}});
  EXPECT_FALSE(wall.passes({}));
  Frame six = tcp(kAck);
  six[kVirtio] = std::byte{0x60};
  EXPECT_FALSE(wall.passes(six));
  Frame fragment = tcp(kAck);
  fragment[kVirtio + 7] = std::byte{1};
  EXPECT_FALSE(wall.passes(fragment));
  Frame truncated = tcp(kAck);
  truncated.resize(kVirtio + 30);
  EXPECT_FALSE(wall.passes(truncated));
}

}  // namespace
}  // namespace isthmus::lab
