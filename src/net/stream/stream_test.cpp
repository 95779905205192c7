#include "net/stream/stream.hpp"

#include <gtest/gtest.h>

#include <asio/error.hpp>
#include <cerrno>

namespace isthmus::net {
namespace {

std::error_code from_errno(int number) { return {number, std::system_category()}; }

TEST(Stream, EndsByItsPeerWhereThePeersKernelSaysSo) {
  EXPECT_TRUE(ended_by_peer(asio::error::eof));
  EXPECT_TRUE(ended_by_peer(asio::error::connection_reset));
  for (const int number : {ECONNRESET, EPIPE}) EXPECT_TRUE(ended_by_peer(from_errno(number)));
}

TEST(Stream, IsNotEndedByItsPeerWhereTheNetworkFails) {
  for (const int number : {ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ENETDOWN, ECONNABORTED, EMFILE}) {
    EXPECT_FALSE(ended_by_peer(from_errno(number))) << number;
  }
}

}  // namespace
}  // namespace isthmus::net
