// The records of a TlsStream, against OpenSSL's own at the other end.
#include <fcntl.h>

#include <string>

#include "net/stream/tls_stream_testbed.hpp"

namespace isthmus::net {
namespace {

TEST_P(TlsStreamTest, OpenSslReadsItsRecordsAndItReadsOpenSsls) {
  connect();
  exchange(3'000'000);
}

TEST_P(TlsStreamTest, BothEndsRenewTheirKeys) {
  connect(3);
  exchange(1'000'000, true);
}

TEST_P(TlsStreamTest, AKeyIsRenewedBehindItsLastRecord) {
  connect(3);
  auto opens = peer_->records(TlsRecords::Way::Open, GetParam());
  std::string types;
  for (int i = 0; i < 8; ++i) types += types_of_a_write(opens);
  EXPECT_EQ(types, "dddkdddkdd");
}

TEST_P(TlsStreamTest, AKeyIsRenewedOnceForThePeersThatAskForIt) {
  connect();
  auto opens = peer_->records(TlsRecords::Way::Open, GetParam());
  auto seals = peer_->records(TlsRecords::Way::Seal, !GetParam());
  Bytes got;
  for (const bool asks : {false, true, true}) {
    for (int i = 0; i < 2; ++i) {
      Bytes message(TlsRecords::kKeyUpdate.begin(), TlsRecords::kKeyUpdate.end());
      message.back() = std::byte{asks};
      send(sealed(seals, message, TlsRecords::Type::Handshake));
      seals.renew();
    }
    send(sealed(seals, Bytes(5)));
    EXPECT_EQ(read(got).bytes, 5U);
    EXPECT_EQ(types_of_a_write(opens), asks ? "kd" : "d");
    EXPECT_EQ(types_of_a_write(opens), "d");
  }
}

TEST_P(TlsStreamTest, PaddingIsDropped) {
  connect();
  SSL_set_block_padding(peer_->ssl(), 512);
  exchange(100'000);
}

TEST_P(TlsStreamTest, TheEndIsRead) {
  connect();
  SSL_shutdown(peer_->ssl());
  Bytes got;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(got).error, asio::error::eof);
}

TEST_P(TlsStreamTest, AnErrorBehindBytesIsReadBehindThem) {
  connect();
  std::byte byte{};
  const iovec part{&byte, 1};
  ASSERT_EQ(stream_->write({&part, 1}).bytes, 1U);
  // Exactly the bytes of its first read of the socket. Then the kernel has an error, once.
  Bytes plain(16'384 - TlsRecords::kAround);
  auto seals = peer_->records(TlsRecords::Way::Seal, !GetParam());
  for (int i = 0; i < 2; ++i) send(sealed(seals, plain));
  ::close(std::exchange(far_, ::dup(0)));
  Bytes got;
  const auto moved = read(got);
  EXPECT_EQ(moved.bytes, 2 * plain.size());
  EXPECT_FALSE(moved.error);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(read(got).error, std::errc::connection_reset);
}

TEST_P(TlsStreamTest, ManyPartsAreFilledByOneRead) {
  connect();
  Bytes plain(4000), got(plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = std::byte(i);
  std::vector<iovec> parts;
  for (std::size_t i = 0; i < 40; ++i) {
    parts.push_back({got.data() + 100 * i, 100});
    parts.push_back({nullptr, 0});
  }
  auto seals = peer_->records(TlsRecords::Way::Seal, !GetParam());
  send(sealed(seals, plain));
  EXPECT_EQ(stream_->read(parts).bytes, plain.size());
  EXPECT_TRUE(got == plain);
}

TEST_P(TlsStreamTest, RecordsMayBeCutAnywhere) {
  connect();
  auto seals = peer_->records(TlsRecords::Way::Seal, !GetParam());
  const Bytes first(10, std::byte{1}), last(20, std::byte{2});
  const std::size_t size = first.size() + last.size() + 3 * TlsRecords::kAround;
  for (std::size_t cut = 1; cut < size; ++cut) {
    const Bytes all = joined({sealed(seals, first), sealed(seals, {}), sealed(seals, last)});
    ASSERT_EQ(all.size(), size);
    Bytes begin, end;
    send(std::span(all).first(cut));
    EXPECT_EQ(read(begin).wait, Stream::Wait::Readable) << cut;
    EXPECT_EQ(begin.size(), cut < first.size() + TlsRecords::kAround ? 0 : first.size()) << cut;
    send(std::span(all).subspan(cut));
    EXPECT_EQ(read(end).wait, Stream::Wait::Readable) << cut;
    EXPECT_EQ(joined({begin, end}), joined({first, last})) << cut;
  }
}

TEST_P(TlsStreamTest, ItGivesMemoryBackAfterManySmallMessages) {
  constexpr std::size_t kSmall = std::size_t{64} * 1024;
  connect();
  exchange(3'000'000);
  EXPECT_GT(stream_->memory(), kSmall);
  for (int i = 0; i < 100; ++i) exchange(10);
  EXPECT_LE(stream_->memory(), kSmall);
  exchange(100'000);
}

TEST_P(TlsStreamTest, OpenSslMustNotReadBehindTheHandshake) {
  if (!GetParam()) GTEST_SKIP() << "the client's words end the handshake";
  for (const bool ahead : {false, true}) {
    make();
    SSL_set_read_ahead(stream_->ssl(), ahead);
    ASSERT_EQ(::fcntl(far_, F_SETFL, O_NONBLOCK), 0);
    EXPECT_NE(SSL_do_handshake(peer_->ssl()), 1);
    begin_handshake();
    io_.restart();
    io_.poll();
    peer_->handshake();
    ASSERT_EQ(SSL_write(peer_->ssl(), "word", 4), 4);
    io_.run();
    EXPECT_EQ(shaken_, ahead ? TlsFault::ReadTooFar : std::error_code());
    if (ahead) continue;
    Bytes got;
    EXPECT_EQ(read(got).bytes, 4U);
  }
}

TEST_P(TlsStreamTest, AHandshakeWithoutKeysIsAnError) {
  SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(stream_->ssl()), nullptr);
  EXPECT_EQ(shake_hands(), TlsFault::NoSecrets);
}

INSTANTIATE_TEST_SUITE_P(Both, TlsStreamTest, testing::Bool());

}  // namespace
}  // namespace isthmus::net
