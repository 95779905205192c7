// Records that no TlsStream sends.
#include <array>

#include "net/stream/tls_stream_testbed.hpp"

namespace isthmus::net {
namespace {

class TlsBreach : public TlsStreamTest {
 protected:
  TlsRecords seals() const { return peer_->records(TlsRecords::Way::Seal, !GetParam()); }
  /// The error behind `before` bytes that these records bring, twice.
  void expect_error(const Bytes& records, const std::error_code& error, std::size_t before = 0) {
    if (!records.empty()) send(records);
    Bytes got;
    if (before > 0) {
      EXPECT_FALSE(read(got).error);
      EXPECT_EQ(got.size(), before);
    }
    for (int i = 0; i < 2; ++i) EXPECT_EQ(read(got).error, error) << error.message();
  }
};

TEST_P(TlsBreach, AChangedRecordIsRefusedAndAllBehindIt) {
  const std::size_t plain = 50, size = plain + TlsRecords::kAround;
  const auto changed = [&](std::size_t at, TlsFault fault) {
    SCOPED_TRACE(at);
    connect();
    auto records = seals();
    const Bytes good = sealed(records, Bytes(7));
    Bytes bad = sealed(records, Bytes(plain));
    bad[at] ^= std::byte{2};
    const Bytes behind = sealed(records, Bytes(7));
    expect_error(joined({good, bad, behind}), fault, 7);
    expect_error(sealed(records, Bytes(7)), fault);
    EXPECT_EQ(peers_reason(), fault == TlsFault::Changed ? SSL_R_SSLV3_ALERT_BAD_RECORD_MAC
                                                         : SSL_R_SSLV3_ALERT_UNEXPECTED_MESSAGE);
  };
  for (const std::size_t head : {0U, 1U, 2U}) changed(head, TlsFault::NotARecord);
  const std::size_t body = TlsRecords::kHead, type = body + plain;
  for (const std::size_t at : {4UL, body, body + plain / 2, type, type + 1, size - 1}) {
    changed(at, TlsFault::Changed);
  }
}

TEST_P(TlsBreach, ARecordOfTheOtherDirectionIsRefused) {
  connect();
  auto records = peer_->records(TlsRecords::Way::Seal, GetParam());
  expect_error(sealed(records, Bytes(10)), TlsFault::Changed);
}

TEST_P(TlsBreach, ARepeatedRecordIsRefused) {
  connect();
  auto records = seals();
  const Bytes record = sealed(records, Bytes(10));
  expect_error(joined({record, record}), TlsFault::Changed, 10);
}

TEST_P(TlsBreach, ContentThatNobodySendsIsRefused) {
  using enum TlsRecords::Type;
  const auto bytes = [](std::initializer_list<unsigned char> all) {
    Bytes to;
    for (const unsigned char one : all) to.push_back(std::byte{one});
    return to;
  };
  const std::pair<TlsRecords::Type, Bytes> all[] = {
      {TlsRecords::Type{0}, {}},                    // no type at all
      {TlsRecords::Type{0}, Bytes(100)},            // padding alone
      {TlsRecords::Type{20}, bytes({1})},           // to change the cipher
      {TlsRecords::Type{24}, bytes({1})},           // heartbeat
      {Handshake, {}},                              //
      {Handshake, bytes({4, 0, 0, 0})},             // a ticket
      {Handshake, bytes({24, 0, 0, 1, 2})},         // no such request
      {Handshake, bytes({24, 0, 0, 2, 1})},         // not the length that it has
      {Handshake, bytes({24, 0, 0, 1, 0, 24, 0})},  // more behind a new key
      {Alert, {}},
      {Alert, bytes({2})},
      {Alert, bytes({2, 20, 2, 20})},
  };
  for (const auto& [type, content] : all) {
    connect();
    auto records = seals();
    expect_error(joined({sealed(records, Bytes(3)), sealed(records, content, type)}),
                 TlsFault::Foreign, 3);
  }
}

TEST_P(TlsBreach, ARecordWithoutEncryptionIsRefused) {
  using Text = std::vector<unsigned char>;
  for (const Text& text : {Text{21, 3, 3, 0, 2, 1, 0}, Text{21, 3, 3, 0, 2, 2, 20},
                           Text{20, 3, 3, 0, 1, 1}, Text{22, 3, 3, 0, 5, 24, 0, 0, 1, 0}}) {
    connect();
    auto records = seals();
    const auto bytes = std::as_bytes(std::span(text));
    expect_error(joined({{bytes.begin(), bytes.end()}, sealed(records, Bytes(9))}),
                 TlsFault::NotARecord);
  }
}

TEST_P(TlsBreach, RecordsWithoutBytesEnd) {
  const std::size_t most = 32;
  for (const std::size_t count : {most, most + 1}) {
    for (const bool empty : {true, false}) {
      connect();
      auto records = seals();
      Bytes all = sealed(records, Bytes(3));
      for (std::size_t i = 0; i < count; ++i) {
        if (empty) {
          all = joined({all, sealed(records, {})});
          continue;
        }
        const auto& message = TlsRecords::kKeyUpdate;
        all = joined(
            {all, sealed(records, {message.begin(), message.end()}, TlsRecords::Type::Handshake)});
        records.renew();
      }
      all = joined({all, sealed(records, Bytes(4))});
      if (count > most) {
        expect_error(all, TlsFault::Foreign, 3);
        continue;
      }
      send(all);
      Bytes got;
      EXPECT_EQ(read(got).bytes, 7U);
    }
  }
}

TEST_P(TlsBreach, NothingIsReadBehindAnAlert) {
  for (const unsigned char alert : {0, 20}) {
    connect();
    auto records = seals();
    const Bytes end = sealed(records, {std::byte{1}, std::byte{alert}}, TlsRecords::Type::Alert);
    expect_error(joined({end, sealed(records, Bytes(9))}),
                 alert == 0 ? std::error_code(asio::error::eof) : alert_error(alert));
  }
}

// Frames say where their conduit ends, so a close_notify is not needed.
TEST_P(TlsBreach, TheEndOfTheSocketLeavesOutWhatIsNotWhole) {
  for (const std::size_t cut : {0U, 1U, 5U, 6U, 30U}) {
    connect();
    auto records = seals();
    Bytes all = joined({sealed(records, Bytes(3)), sealed(records, Bytes(9))});
    all.resize(3 + TlsRecords::kAround + cut);
    send(all);
    ::shutdown(far_, SHUT_WR);
    expect_error({}, asio::error::eof, 3);
  }
}

TEST_P(TlsBreach, OnlyTheCloseNotifyIsAGoodEnd) {
  for (const unsigned char alert : {0, 20, 80, 90}) {
    connect();
    auto records = seals();
    const Bytes before = sealed(records, Bytes(3));
    const Bytes end = sealed(records, {std::byte{1}, std::byte{alert}}, TlsRecords::Type::Alert);
    expect_error(joined({before, end}),
                 alert == 0 ? std::error_code(asio::error::eof) : alert_error(alert), 3);
  }
  EXPECT_NE(alert_error(20).message().find("bad record mac"), std::string::npos);
}

TEST_P(TlsBreach, PaddingAndEmptyRecordsAreNone) {
  connect();
  auto records = seals();
  Bytes padded(40);
  padded[5] = std::byte{23};  // the type of the five bytes before
  send(joined({sealed(records, {}), sealed(records, padded, TlsRecords::Type{0}),
               sealed(records, Bytes(6))}));
  Bytes got;
  EXPECT_EQ(read(got).bytes, 11U);
}

TEST(TlsRecords, HaveOneTypeOneVersionAndALengthOfOneRecord) {
  using Head = std::array<unsigned char, TlsRecords::kHead>;
  const auto next = [](const Head& head) {
    return TlsRecords::next(std::as_bytes(std::span(head)));
  };
  EXPECT_EQ(next({23, 3, 3, 0, 17}).size, TlsRecords::kAround);
  EXPECT_EQ(next({23, 3, 3, 0x40, 17}).size, TlsRecords::kMost + TlsRecords::kAround);
  for (const Head& head : {Head{23, 3, 3, 0, 16}, Head{23, 3, 3, 0x40, 18}, Head{22, 3, 3, 0, 17},
                           Head{23, 3, 1, 0, 17}, Head{23, 2, 3, 0, 17}}) {
    EXPECT_TRUE(next(head).foreign);
  }
  const Head head{23, 3, 3, 0, 17};
  const auto part = TlsRecords::next(std::as_bytes(std::span(head)).first(4));
  EXPECT_FALSE(part.foreign);
  EXPECT_EQ(part.size, 0U);
}

INSTANTIATE_TEST_SUITE_P(Both, TlsBreach, testing::Bool());

}  // namespace
}  // namespace isthmus::net
