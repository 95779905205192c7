// A network may change every byte of a stream in TLS, and a peer with the keys may put anything
// into its records. Only bytes whose tag is right are read, in order, and none behind a wrong
// record. Whatever comes, the peer can open what the stream writes. Two bytes choose the most
// records of a key and the size of reads. Each step is four bytes: what it does, two of its amount,
// one of its detail.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "net/stream/tls_reader.hpp"
#include "net/stream/tls_writer.hpp"

using namespace isthmus::net;
using Bytes = std::vector<std::byte>;
using Local = asio::local::stream_protocol;
using Type = TlsRecords::Type;

namespace {

constexpr std::size_t kMostSent = 300'000;
constexpr unsigned kMostIdle = 32;
constexpr std::byte kUnread{0xEE};

void demand(bool holds) {
  if (!holds) std::abort();
}

void append(Bytes& all, std::span<const std::byte> more) {
  all.insert(all.end(), more.begin(), more.end());
}

// What the peer's records mean to whoever may read them.
class Meaning {
 public:
  /// A record with this content, its type at the end, then padding. True: the next has another key.
  bool take(std::span<const std::byte> content) {
    while (!content.empty() && content.back() == std::byte{0}) {
      content = content.first(content.size() - 1);
    }
    const auto type = content.empty() ? Type{} : static_cast<Type>(content.back());
    if (!content.empty()) content = content.first(content.size() - 1);
    const bool data = type == Type::Data;
    idle_ = data && !content.empty() ? 0 : idle_ + 1;
    if (!good || idle_ > kMostIdle) return good = false;
    if (data) append(bytes, content);
    const bool renews =
        type == Type::Handshake && content.size() == 5 &&
        std::equal(content.begin(), content.end() - 1, TlsRecords::kKeyUpdate.begin()) &&
        content.back() <= std::byte{1};
    if (!data && !renews) good = false;
    return renews;
  }

  Bytes bytes;
  bool good = true;  ///< no record so far ends the stream
 private:
  unsigned idle_ = 0;
};

class Bed {
 public:
  Bed(std::uint64_t of_one_key, std::size_t read_size) : read_size_(read_size) {
    int both[2];
    demand(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both) == 0);
    socket_.emplace(Local::socket(io(), Local(), both[0]));
    far_ = both[1];
    writer_.emplace(*socket_, of_one_key);
    reader_.emplace(*socket_, *writer_);
    writer_->seals().emplace(TlsRecords::Way::Seal, kNear);
    reader_->opens().emplace(TlsRecords::Way::Open, kFar);
  }
  ~Bed() { ::close(far_); }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  /// The peer seals this content. The last byte is the type.
  Bytes seal(Bytes content) {
    const bool renews = meaning_.take(content);
    const auto type = static_cast<Type>(content.back());
    content.pop_back();
    const iovec part{content.data(), content.size()};
    Bytes record(content.size() + TlsRecords::kAround);
    demand(seals_.seal({&part, 1}, record.data(), type));
    if (renews) seals_.renew();
    return record;
  }
  /// The bytes behind it are not a record, or its tag is wrong.
  void spoil() { meaning_.good = false; }
  /// The wire carries these bytes, so many at a time.
  void send(std::span<const std::byte> bytes, std::size_t at_once) {
    while (!bytes.empty() && !error_) {
      const std::size_t most = std::min(bytes.size(), at_once);
      const ssize_t n = ::send(far_, bytes.data(), most, MSG_NOSIGNAL);
      if (n > 0) bytes = bytes.subspan(static_cast<std::size_t>(n));
      read();
    }
  }
  void write(std::size_t size) {
    Bytes bytes(size, std::byte(size));
    std::span<std::byte> left = bytes;
    while (true) {
      const iovec part{left.data(), left.size()};
      const auto moved = writer_->write({&part, 1});
      demand(!moved.error && moved.bytes <= left.size());
      left = left.subspan(moved.bytes);
      receive();
      if (left.empty() && moved.wait == Stream::Wait::None) break;
    }
    demand(received_ == bytes);
    received_.clear();
  }
  /// The wire ends. All that was good has been read.
  void end() {
    ::shutdown(far_, SHUT_WR);
    while (!error_) read();
    demand(read_ == meaning_.bytes.size());
    const auto error = error_;
    read();
    demand(error_ == error);
    receive();
  }

 private:
  static asio::io_context& io() {
    static asio::io_context context;
    return context;
  }

  void read() {
    static Bytes into;
    into.assign(read_size_, kUnread);
    const iovec part{into.data(), into.size()};
    Stream::Moved moved;
    do {
      moved = reader_->read({&part, 1});
      demand(moved.bytes <= into.size());
      demand(moved.bytes <= meaning_.bytes.size() - read_);
      demand(std::equal(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(moved.bytes),
                        meaning_.bytes.begin() + static_cast<std::ptrdiff_t>(read_)));
      demand(std::all_of(into.begin() + static_cast<std::ptrdiff_t>(moved.bytes), into.end(),
                         [](std::byte byte) { return byte == kUnread; }));
      std::fill_n(into.begin(), moved.bytes, kUnread);
      demand(!moved.error || moved.bytes == 0);
      demand(!error_ || moved.error == error_);
      demand(moved.wait != Stream::Wait::Writable);
      read_ += moved.bytes;
      error_ = moved.error;
    } while (!moved.error && moved.wait == Stream::Wait::None);
    demand(reader_->memory() <= std::size_t{256} * 1024);
  }

  // The peer opens what the stream has written.
  void receive() {
    static Bytes block(70'000);
    while (true) {
      const ssize_t n = ::recv(far_, block.data(), block.size(), 0);
      if (n <= 0) break;
      append(wire_, std::span(block).first(static_cast<std::size_t>(n)));
    }
    std::span<std::byte> left = wire_;
    while (true) {
      const auto next = TlsRecords::next(left);
      demand(!next.foreign);
      if (next.size == 0 || next.size > left.size()) break;
      const auto opened = opens_.open(left.first(next.size));
      demand(opened.has_value());
      if (opened->type == Type::Data) append(received_, opened->plain);
      if (opened->type == Type::Handshake) opens_.renew();
      left = left.subspan(next.size);
    }
    wire_.erase(wire_.begin(), wire_.end() - static_cast<std::ptrdiff_t>(left.size()));
  }

  static constexpr TlsRecords::Secret kNear{1, 2, 3}, kFar{4, 5, 6};
  const std::size_t read_size_;
  TlsRecords seals_{TlsRecords::Way::Seal, kFar}, opens_{TlsRecords::Way::Open, kNear};
  std::optional<Socket> socket_;
  std::optional<TlsWriter> writer_;
  std::optional<TlsReader> reader_;
  int far_ = -1;
  Meaning meaning_;
  std::size_t read_ = 0;
  std::error_code error_;
  Bytes received_, wire_;  // by the peer, as plain bytes and from the socket
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  Bed bed(1 + data[0], 1 + std::size_t{data[1]} * 100);
  std::size_t sent = 0;
  for (std::size_t at = 2; at + 4 <= size && sent < kMostSent; at += 4) {
    const std::size_t amount = data[at + 1] | std::size_t{data[at + 2]} << 8;
    const std::uint8_t detail = data[at + 3];
    const std::size_t most = TlsRecords::kMost;
    Bytes record;
    switch (data[at] % 8) {
      case 0: {  // data with padding
        Bytes content(amount % (most + 1), std::byte(detail ^ 0x55));
        content.push_back(static_cast<std::byte>(Type::Data));
        content.resize(std::min(content.size() + detail / 4, most + 1));
        record = bed.seal(std::move(content));
        break;
      }
      case 1: {  // what follows in the input, of any type
        const std::size_t bytes = std::min(amount % 64, size - at - 4);
        const auto content = std::as_bytes(std::span(data + at + 4, bytes));
        Bytes all(content.begin(), content.end());
        all.push_back(std::byte{detail});
        record = bed.seal(std::move(all));
        at += bytes;
        break;
      }
      case 2: {  // a new key, and perhaps some more or less
        Bytes content(TlsRecords::kKeyUpdate.begin(), TlsRecords::kKeyUpdate.end());
        content.back() = std::byte(detail % 4);
        if (amount % 16 == 0) content[amount / 16 % content.size()] ^= std::byte{detail};
        if (amount % 16 == 1) content.resize(amount / 16 % 16);
        content.push_back(static_cast<std::byte>(Type::Handshake));
        record = bed.seal(std::move(content));
        break;
      }
      case 3: {  // a changed bit
        bed.spoil();
        record = bed.seal(Bytes(1 + (amount / 8) % 500, static_cast<std::byte>(Type::Data)));
        record[amount % record.size()] ^= std::byte(1U << detail % 8);
        break;
      }
      case 4: {  // what follows in the input, as it is
        const std::size_t bytes = std::min(amount % 64, size - at - 4);
        const auto raw = std::as_bytes(std::span(data + at + 4, bytes));
        record.assign(raw.begin(), raw.end());
        if (bytes > 0) bed.spoil();
        at += bytes;
        break;
      }
      case 5:  // empty records, or some of one byte
        for (unsigned i = 0; i < detail % 64U; ++i) {
          append(record, bed.seal(Bytes(1 + (amount == i), static_cast<std::byte>(Type::Data))));
        }
        break;
      case 6:
        bed.write(amount);
        break;
      default: {  // the beginning of a record
        bed.spoil();
        record = bed.seal(Bytes(1 + detail, static_cast<std::byte>(Type::Data)));
        record.resize(amount % record.size());
      }
    }
    sent += record.size() + amount;
    bed.send(record, record.size() < 600 && detail % 16 == 1 ? 1 : 1 + amount % 5000);
  }
  bed.end();
  return 0;
}
