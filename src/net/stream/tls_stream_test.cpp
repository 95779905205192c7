// The records of a TlsStream, against OpenSSL's own at the other end.
#include "net/stream/tls_stream.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/ssl/error.hpp>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "net/stream/tls.hpp"

namespace isthmus::net {
namespace {

using Bytes = std::vector<std::byte>;

/// The peer of a stream: OpenSSL alone, on a socket that blocks.
class Peer {
 public:
  Peer(int socket, bool server, const Credentials& credentials)
      : context_(make_tls(server, credentials)), ssl_(SSL_new(context_.native_handle())) {
    SSL_set_fd(ssl_, socket);
    server ? SSL_set_accept_state(ssl_) : SSL_set_connect_state(ssl_);
  }
  ~Peer() { SSL_free(ssl_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void handshake() { ASSERT_EQ(SSL_do_handshake(ssl_), 1); }
  /// Sends back what comes, this many bytes.
  void echo(std::size_t bytes) {
    Bytes buffer(20'000);
    while (bytes > 0) {
      std::size_t n = 0, sent = 0;
      ASSERT_EQ(SSL_read_ex(ssl_, buffer.data(), std::min(bytes, buffer.size()), &n), 1);
      ASSERT_EQ(SSL_write_ex(ssl_, buffer.data(), n, &sent), 1);
      ASSERT_EQ(sent, n);
      bytes -= n;
    }
  }
  void end() { SSL_shutdown(ssl_); }

 private:
  asio::ssl::context context_;
  SSL* ssl_;
};

// The parameter: the stream is the server.
class TlsStreamTest : public testing::TestWithParam<bool> {
 protected:
  TlsStreamTest() {
    int both[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    asio::local::stream_protocol::socket near(io_, asio::local::stream_protocol(), both[0]);
    far_ = both[1];
    stream_ = std::make_shared<TlsStream>(Socket(std::move(near)), make_tls(GetParam(), secret_),
                                          GetParam(), "a test");
    peer_ = std::make_unique<Peer>(far_, !GetParam(), secret_);
    std::thread other([this] { peer_->handshake(); });
    std::error_code error = asio::error::would_block;
    asio::co_spawn(
        io_, [&]() -> asio::awaitable<void> { error = co_await stream_->handshake(); },
        asio::detached);
    io_.run();
    other.join();
    EXPECT_FALSE(error) << error.message();
  }
  ~TlsStreamTest() override { ::close(far_); }

  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  /// These bytes in parts of any size.
  std::vector<iovec> parts(std::span<std::byte> bytes, std::size_t most) {
    std::vector<iovec> all;
    while (!bytes.empty() && all.size() < most) {
      const std::size_t limits[] = {10, 3000, 70'000};
      const std::size_t size = std::min(bytes.size(), 1 + below(limits[below(3)]));
      all.push_back({bytes.data(), size});
      bytes = bytes.subspan(size);
    }
    return all;
  }
  void wait() const {
    pollfd look{stream_->socket().native_handle(), POLLIN, 0};
    ::poll(&look, 1, 1);
  }

  const Credentials secret_{"job", "secret"};
  asio::io_context io_;
  std::mt19937 random_{7};
  int far_ = -1;
  std::shared_ptr<TlsStream> stream_;
  std::unique_ptr<Peer> peer_;
};

TEST_P(TlsStreamTest, OpenSslReadsItsRecordsAndItReadsOpenSsls) {
  Bytes sent(3'000'000), got(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = std::byte(i * 31 + i / 255);
  std::thread other([&] { peer_->echo(sent.size()); });
  std::size_t written = 0, read = 0;
  bool holds = false;
  while (read < got.size()) {
    if (written < sent.size() || holds) {
      const auto moved = stream_->write(parts(std::span(sent).subspan(written), 40));
      ASSERT_FALSE(moved.error) << moved.error.message();
      written += moved.bytes;
      holds = moved.wait == Stream::Wait::Writable;
    }
    const auto moved = stream_->read(parts(std::span(got).subspan(read), 8));
    ASSERT_FALSE(moved.error) << moved.error.message();
    read += moved.bytes;
    if (moved.bytes == 0) wait();
  }
  other.join();
  EXPECT_TRUE(got == sent);
}

TEST_P(TlsStreamTest, TheEndIsRead) {
  peer_->end();
  std::byte byte{};
  const iovec part{&byte, 1};
  EXPECT_EQ(stream_->read({&part, 1}).error, asio::error::eof);
}

TEST_P(TlsStreamTest, ARecordThatWasChangedIsRefusedAndAllBehindIt) {
  std::array<std::byte, 10> zero{};
  const iovec part{zero.data(), zero.size()};
  // Records of this end are none of the other's: their keys differ.
  ASSERT_EQ(stream_->write({&part, 1}).bytes, zero.size());
  std::array<std::byte, 100> record{};
  const ssize_t size = ::recv(far_, record.data(), record.size(), 0);
  ASSERT_EQ(size, static_cast<ssize_t>(zero.size() + TlsRecords::kAround));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(::send(far_, record.data(), static_cast<std::size_t>(size), 0), size);
    EXPECT_EQ(stream_->read({&part, 1}).error.category(), asio::error::get_ssl_category());
  }
}

TEST_P(TlsStreamTest, WhatIsNoRecordIsRefused) {
  std::array<std::byte, 40> plain{std::byte{0x16}, std::byte{3}, std::byte{3}};
  ASSERT_EQ(::send(far_, plain.data(), plain.size(), 0), static_cast<ssize_t>(plain.size()));
  const iovec part{plain.data(), plain.size()};
  EXPECT_EQ(stream_->read({&part, 1}).error.category(), asio::error::get_ssl_category());
}

TEST(TlsRecords, HaveOneTypeOneVersionAndALengthOfOneRecord) {
  using Head = std::array<unsigned char, TlsRecords::kHead>;
  const auto size = [](const Head& head) {
    return TlsRecords::size(reinterpret_cast<const std::byte*>(head.data()));
  };
  EXPECT_EQ(size({23, 3, 3, 0, 17}), TlsRecords::kAround);
  EXPECT_EQ(size({23, 3, 3, 0x40, 17}), TlsRecords::kMost + TlsRecords::kAround);
  for (const Head& head : {Head{23, 3, 3, 0, 16}, Head{23, 3, 3, 0x40, 18}, Head{22, 3, 3, 0, 17},
                           Head{23, 3, 1, 0, 17}, Head{23, 2, 3, 0, 17}}) {
    EXPECT_EQ(size(head), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, TlsStreamTest, testing::Bool());

}  // namespace
}  // namespace isthmus::net
