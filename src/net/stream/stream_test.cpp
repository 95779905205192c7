#include "net/stream/stream.hpp"

#include <gtest/gtest.h>

#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cerrno>
#include <memory>
#include <utility>

#include "net/stream/plain_stream.hpp"

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

class WaitingStream : public testing::Test {
 protected:
  WaitingStream() {
    asio::local::stream_protocol::socket near(io_);
    asio::local::connect_pair(near, far_);
    stream_ = std::make_shared<PlainStream>(Socket(std::move(near)), "a test");
  }
  /// Waits for one thing; returns the number of reports by the kernel, with or without a taker.
  std::size_t reports_of(Stream::Wait what) {
    stream_->wait(what, [this](const std::error_code& error) {
      EXPECT_FALSE(error);
      ++ended_;
    });
    return io_.poll();
  }

  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  asio::local::stream_protocol::socket far_{io_};
  std::shared_ptr<Stream> stream_;
  int ended_ = 0;
};

TEST_F(WaitingStream, HearsNothingOfRoomToWriteOnceThatIsForgotten) {
  EXPECT_GT(reports_of(Stream::Wait::Writable), 0U);
  EXPECT_EQ(ended_, 1);
  stream_->forget_writing();
  EXPECT_EQ(reports_of(Stream::Wait::Readable), 0U);
  EXPECT_EQ(ended_, 1);
  far_.write_some(asio::buffer("x", 1));
  EXPECT_GT(io_.poll(), 0U);
  EXPECT_EQ(ended_, 2);
}

}  // namespace
}  // namespace isthmus::net
