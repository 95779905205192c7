// A TlsStream whose peer is OpenSSL alone, set up in ways in which Isthmus does not use it.
#include <openssl/err.h>
#include <openssl/x509.h>

#include <asio/ssl/error.hpp>
#include <memory>
#include <string_view>
#include <utility>

#include "net/stream/tls_stream_testbed.hpp"

namespace isthmus::net {
namespace {

using TlsOpenSsl = TlsStreamTest;

TEST_P(TlsOpenSsl, EverySizeAroundARecordPasses) {
  connect(20);
  const std::size_t record = TlsRecords::kMost;
  for (const std::size_t most : {record, 2 * record, 4 * record, 16 * record}) {
    for (std::size_t size = most - 2; size <= most + 2; ++size) exchange(size);
  }
  for (std::size_t size = 1; size <= 1 << 20; size = 3 * size + 1) exchange(size);
  exchange(1 << 20);
}

TEST_P(TlsOpenSsl, ASlowPeerGetsAllBytes) {
  connect(3);
  for (const int socket : {far_, stream_->socket().native_handle()}) {
    const int small = 1;  // the kernel makes it the least that it allows
    for (const int side : {SO_SNDBUF, SO_RCVBUF}) {
      ASSERT_EQ(::setsockopt(socket, SOL_SOCKET, side, &small, sizeof small), 0);
    }
  }
  exchange(500'000, true);
}

TEST_P(TlsOpenSsl, ThePeerMayMakeSmallRecords) {
  connect();
  ASSERT_EQ(SSL_set_max_send_fragment(peer_->ssl(), 512), 1);
  exchange(100'000);
  const Bytes sent(500, std::byte{7});
  std::thread other([&] {
    for (const std::byte& byte : sent) ASSERT_EQ(SSL_write(peer_->ssl(), &byte, 1), 1);
  });
  Bytes all, got;
  while (all.size() < sent.size() && !read(got).error) all = joined({all, got});
  other.join();
  EXPECT_TRUE(all == sent);
}

TEST_P(TlsOpenSsl, ThePeerMayRenewItsKeyAtAnyTime) {
  for (const int kind : {SSL_KEY_UPDATE_REQUESTED, SSL_KEY_UPDATE_NOT_REQUESTED}) {
    connect();
    for (int i = 0; i < 40; ++i) {
      ASSERT_EQ(SSL_key_update(peer_->ssl(), kind), 1);
      exchange(1 + 1000 * static_cast<std::size_t>(i % 3));
    }
  }
}

TEST_P(TlsOpenSsl, AHandshakeWaitsForRoomInTheSocket) {
  if (GetParam()) GTEST_SKIP() << "a server speaks second";
  Bytes junk(4096);
  std::size_t filled = 0;
  for (ssize_t n = 1; n > 0; filled += static_cast<std::size_t>(n > 0 ? n : 0)) {
    n = ::send(stream_->socket().native_handle(), junk.data(), junk.size(), MSG_DONTWAIT);
  }
  begin_handshake();
  io_.poll();
  while (filled > 0) {
    const ssize_t n = ::recv(far_, junk.data(), std::min(filled, junk.size()), 0);
    ASSERT_GT(n, 0);
    filled -= static_cast<std::size_t>(n);
  }
  std::thread other([this] { peer_->handshake(); });
  io_.run();
  other.join();
  ASSERT_FALSE(shaken_) << shaken_.message();
  exchange(1000);
}

// No end of Isthmus sends tickets.
TEST_P(TlsOpenSsl, ATicketIsRefused) {
  if (GetParam()) GTEST_SKIP() << "servers send tickets";
  make();
  SSL_set_num_tickets(peer_->ssl(), 2);
  ASSERT_FALSE(shake_hands());
  Bytes got;
  EXPECT_EQ(read(got).error, TlsFault::Foreign);
  EXPECT_EQ(peers_reason(), SSL_R_SSLV3_ALERT_UNEXPECTED_MESSAGE);
}

// The end that refuses a handshake tells the other one by an alert.
class TlsStrangers : public TlsStreamTest {
 protected:
  /// A handshake with a peer of this context. OpenSSL's reason at the stream, then at the peer.
  std::pair<int, int> reasons(asio::ssl::context& context) {
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.native_handle()), SSL_free);
    SSL_set_fd(ssl.get(), far_);
    GetParam() ? SSL_set_connect_state(ssl.get()) : SSL_set_accept_state(ssl.get());
    int peers = 0;
    std::thread other([&] {
      ERR_clear_error();
      char byte = 0;
      if (SSL_do_handshake(ssl.get()) == 1) SSL_read(ssl.get(), &byte, 1);
      peers = ERR_GET_REASON(ERR_get_error());
      ::shutdown(far_, SHUT_RDWR);
    });
    begin_handshake();
    io_.restart();
    io_.run();
    ::shutdown(stream_->socket().native_handle(), SHUT_WR);
    other.join();
    return {reason(), peers};
  }
  /// Why the stream's handshake has failed.
  int reason() const {
    EXPECT_EQ(shaken_.category(), asio::error::get_ssl_category()) << shaken_.message();
    return ERR_GET_REASON(static_cast<unsigned long>(shaken_.value()));
  }
};

TEST_P(TlsStrangers, AnotherSecret) {
  auto context = make_tls(!GetParam(), {"job", "another secret"});
  const int refuses = SSL_R_BINDER_DOES_NOT_VERIFY, hears = SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER;
  EXPECT_EQ(reasons(context), GetParam() ? std::pair(refuses, hears) : std::pair(hears, refuses));
}

TEST_P(TlsStrangers, ACertificateInsteadOfASecret) {
  asio::ssl::context context(GetParam() ? asio::ssl::context::tls_client
                                        : asio::ssl::context::tls_server);
  if (GetParam()) {
    EXPECT_EQ(reasons(context).second, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE);
    return;
  }
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> paper(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(paper.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(paper.get()), 3600);
  X509_set_pubkey(paper.get(), key.get());
  ASSERT_GT(X509_sign(paper.get(), key.get(), EVP_sha256()), 0);
  ASSERT_EQ(SSL_CTX_use_certificate(context.native_handle(), paper.get()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context.native_handle(), key.get()), 1);
  EXPECT_EQ(reasons(context),
            std::pair(SSL_R_CERTIFICATE_VERIFY_FAILED, SSL_R_TLSV1_ALERT_UNKNOWN_CA));
}

TEST_P(TlsStrangers, AnOlderVersion) {
  auto context = make_tls(!GetParam(), secret_);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(context.native_handle(), TLS1_2_VERSION);
  const int refuses = SSL_R_UNSUPPORTED_PROTOCOL, hears = SSL_R_TLSV1_ALERT_PROTOCOL_VERSION;
  EXPECT_EQ(reasons(context), GetParam() ? std::pair(refuses, hears) : std::pair(hears, refuses));
}

TEST_P(TlsStrangers, AnEndWithinTheHandshake) {
  send(Bytes{std::byte{22}, std::byte{3}});
  ::shutdown(far_, SHUT_WR);
  begin_handshake();
  io_.run();
  EXPECT_EQ(shaken_, asio::error::eof);
}

TEST_P(TlsStrangers, NoTlsAtAll) {
  const std::string_view text = "HTTP/1.1 400 Bad Request\r\n\r\n";
  send(std::as_bytes(std::span(text)));
  begin_handshake();
  io_.run();
  EXPECT_NE(reason(), 0);  // it depends on OpenSSL's release
}

INSTANTIATE_TEST_SUITE_P(Both, TlsOpenSsl, testing::Bool());
INSTANTIATE_TEST_SUITE_P(Both, TlsStrangers, testing::Bool());

}  // namespace
}  // namespace isthmus::net
