// A TlsStream, and OpenSSL at the other end of its socket.
#pragma once

#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
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
#include <csignal>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/stream/tls.hpp"
#include "net/stream/tls_records.hpp"
#include "net/stream/tls_stream.hpp"

namespace isthmus::net {

using Bytes = std::vector<std::byte>;

/// The peer of a stream: OpenSSL alone, on a socket that blocks.
class TlsPeer {
 public:
  TlsPeer(int socket, bool server, const Credentials& credentials)
      : context_(make_tls(server, credentials)) {
    SSL_CTX_set_keylog_callback(context_.native_handle(), log_key);
    ssl_ = SSL_new(context_.native_handle());
    SSL_set_app_data(ssl_, this);
    SSL_set_fd(ssl_, socket);
    server ? SSL_set_accept_state(ssl_) : SSL_set_connect_state(ssl_);
  }
  ~TlsPeer() { SSL_free(ssl_); }
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  SSL* ssl() { return ssl_; }
  void handshake() { ASSERT_EQ(SSL_do_handshake(ssl_), 1); }
  /// Receives this many bytes and sends them back. Renews keys meanwhile if `renews`.
  void echo(std::size_t bytes, bool renews) {
    Bytes buffer(20'000);
    for (int round = 0; bytes > 0; ++round) {
      std::size_t n = 0, sent = 0;
      ASSERT_EQ(SSL_read_ex(ssl_, buffer.data(), std::min(bytes, buffer.size()), &n), 1);
      if (renews && round % 5 == 0) {
        ASSERT_EQ(SSL_key_update(ssl_, round % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED
                                                      : SSL_KEY_UPDATE_NOT_REQUESTED),
                  1);
      }
      ASSERT_EQ(SSL_write_ex(ssl_, buffer.data(), n, &sent), 1);
      ASSERT_EQ(sent, n);
      bytes -= n;
    }
  }
  /// Seals or opens records by the key of the server's records, or else of the client's.
  TlsRecords records(TlsRecords::Way way, bool of_server) const {
    return {way, of_server ? *server_ : *client_};
  }

 private:
  static void log_key(const SSL* ssl, const char* line) {
    auto& self = *static_cast<TlsPeer*>(SSL_get_app_data(ssl));
    const std::string_view text(line);
    const bool client = text.starts_with("CLIENT_TRAFFIC_SECRET_0 ");
    if (!client && !text.starts_with("SERVER_TRAFFIC_SECRET_0 ")) return;
    auto& secret = (client ? self.client_ : self.server_).emplace();
    long size = 0;
    unsigned char* const bytes = OPENSSL_hexstr2buf(line + text.rfind(' ') + 1, &size);
    ASSERT_EQ(static_cast<std::size_t>(size), secret.size());
    std::copy_n(bytes, secret.size(), secret.begin());
    OPENSSL_free(bytes);
  }

  asio::ssl::context context_;
  SSL* ssl_;
  std::optional<TlsRecords::Secret> client_, server_;
};

// The parameter says whether the stream is the server.
class TlsStreamTest : public testing::TestWithParam<bool> {
 protected:
  TlsStreamTest() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket raises it if the stream is closed
    make();
  }
  ~TlsStreamTest() override { ::close(far_); }

  /// Both ends, without a handshake.
  void make(std::uint64_t of_one_key = TlsRecords::kOfOneKey) {
    stream_.reset();
    peer_.reset();
    if (far_ >= 0) ::close(far_);
    int both[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
    asio::local::stream_protocol::socket near(io_, asio::local::stream_protocol(), both[0]);
    far_ = both[1];
    stream_ = std::make_shared<TlsStream>(Socket(std::move(near)), make_tls(GetParam(), secret_),
                                          GetParam(), "a test", of_one_key);
    peer_ = std::make_unique<TlsPeer>(far_, !GetParam(), secret_);
  }
  /// Returns the stream's error.
  std::error_code shake_hands() {
    std::thread other([this] { peer_->handshake(); });
    begin_handshake();
    io_.restart();
    io_.run();
    other.join();
    return shaken_;
  }
  void begin_handshake() {
    shaken_ = asio::error::would_block;
    asio::co_spawn(
        io_, [this]() -> asio::awaitable<void> { shaken_ = co_await stream_->handshake(); },
        asio::detached);
  }
  void connect(std::uint64_t of_one_key = TlsRecords::kOfOneKey) {
    make(of_one_key);
    const auto error = shake_hands();
    ASSERT_FALSE(error) << error.message();
  }

  /// Reads once. `got` has the bytes of that.
  Stream::Moved read(Bytes& got, std::size_t most = 100'000) {
    got.assign(most, std::byte{0xee});
    const iovec part{got.data(), got.size()};
    const auto moved = stream_->read({&part, 1});
    EXPECT_TRUE(std::ranges::all_of(std::span(got).subspan(moved.bytes), [](std::byte b) {
      return b == std::byte{0xee};
    })) << "bytes have come that were not read";
    got.resize(moved.bytes);
    return moved;
  }
  /// Writes ten bytes, and opens what has come of it: d is a record of data, k a new key. K also
  /// asks for a key of the peer.
  std::string types_of_a_write(TlsRecords& opens) {
    std::array<std::byte, 10> zero{};
    const iovec part{zero.data(), zero.size()};
    EXPECT_EQ(stream_->write({&part, 1}).bytes, zero.size());
    Bytes got(1000);
    const ssize_t n = ::recv(far_, got.data(), got.size(), 0);
    std::string types;
    std::span<std::byte> left = std::span(got).first(n > 0 ? static_cast<std::size_t>(n) : 0);
    while (!left.empty()) {
      const std::size_t size = TlsRecords::next(left).size;
      const auto opened = opens.open(left.first(size));
      if (!opened) return types + "?";
      const bool asks = !opened->plain.empty() && opened->plain.back() == std::byte{1};
      types += opened->type == TlsRecords::Type::Data ? 'd' : asks ? 'K' : 'k';
      if (opened->type == TlsRecords::Type::Handshake) opens.renew();
      left = left.subspan(size);
    }
    return types;
  }
  /// OpenSSL's reason for the peer's next error. The stream writes no more.
  int peers_reason() {
    ::shutdown(stream_->socket().native_handle(), SHUT_WR);
    ERR_clear_error();
    char byte = 0;
    EXPECT_LE(SSL_read(peer_->ssl(), &byte, 1), 0);
    return ERR_GET_REASON(ERR_get_error());
  }
  void send(std::span<const std::byte> bytes) const {
    ASSERT_EQ(::send(far_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  /// Splits these bytes into parts of random sizes, `most` at most.
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
  /// The peer echoes this many bytes.
  void exchange(std::size_t size, bool renews = false) {
    Bytes sent(size), got(size);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = std::byte(i * 31 + i / 255);
    std::thread other([&] { peer_->echo(sent.size(), renews); });
    std::size_t written = 0, read = 0;
    bool holds = false;
    std::error_code error;
    while (read < got.size() && !error) {
      if (written < sent.size() || holds) {
        const auto moved = stream_->write(parts(std::span(sent).subspan(written), 40));
        error = moved.error;
        written += moved.bytes;
        holds = moved.wait == Stream::Wait::Writable;
      }
      const auto moved = stream_->read(parts(std::span(got).subspan(read), 8));
      if (moved.error) error = moved.error;
      read += moved.bytes;
      if (moved.bytes == 0) wait();
    }
    if (error) ::shutdown(far_, SHUT_RDWR);
    other.join();
    EXPECT_FALSE(error) << error.message();
    EXPECT_TRUE(got == sent);
  }

  const Credentials secret_{"job", "secret"};
  asio::io_context io_;
  std::error_code shaken_;
  std::mt19937 random_{7};
  int far_ = -1;
  std::shared_ptr<TlsStream> stream_;
  std::unique_ptr<TlsPeer> peer_;

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }
  void wait() const {
    pollfd look{stream_->socket().native_handle(), POLLIN, 0};
    ::poll(&look, 1, 1);
  }
};

/// A record of these bytes.
inline Bytes sealed(TlsRecords& records, Bytes plain,
                    TlsRecords::Type type = TlsRecords::Type::Data) {
  Bytes record(plain.size() + TlsRecords::kAround);
  const iovec part{plain.data(), plain.size()};
  EXPECT_TRUE(records.seal({&part, 1}, record.data(), type));
  return record;
}

inline Bytes joined(std::initializer_list<Bytes> all) {
  Bytes bytes;
  for (const Bytes& one : all) bytes.insert(bytes.end(), one.begin(), one.end());
  return bytes;
}

}  // namespace isthmus::net
