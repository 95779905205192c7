#include "core/wire/wire.hpp"

#include <algorithm>

#include "core/base/little_endian.hpp"

namespace isthmus::core {
namespace {

constexpr std::string_view kMark = "ISTHMUS\n";

Decoded malformed(std::string reason) {
  Decoded result;
  result.state = Decoded::State::Malformed;
  result.reason = std::move(reason);
  return result;
}

}  // namespace

const char* name_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::Hello:
      return "Hello";
    case FrameKind::Ack:
      return "Ack";
    case FrameKind::Ping:
      return "Ping";
    case FrameKind::Bye:
      return "Bye";
    case FrameKind::Refuse:
      return "Refuse";
    case FrameKind::Ready:
      return "Ready";
    case FrameKind::Compressed:
      return "Compressed";
    case FrameKind::Leg:
      return "Leg";
    case FrameKind::Envelope:
      return "Envelope";
    case FrameKind::Piece:
      return "Piece";
    case FrameKind::Grant:
      return "Grant";
    case FrameKind::Credit:
      return "Credit";
    case FrameKind::Invite:
      return "Invite";
    case FrameKind::Batch:
      return "Batch";
    case FrameKind::Taken:
      return "Taken";
    case FrameKind::Spoil:
      return "Spoil";
    case FrameKind::Control:
      return "Control";
  }
  return nullptr;
}

void encode_header(const FrameHeader& header, std::byte* out) {
  store_number(out, header.body_size);
  store_number(out + 4, static_cast<std::uint8_t>(header.kind));
  store_number(out + 5, header.flags);
  store_number(out + 6, header.hops);
  store_number(out + 8, header.source);
  store_number(out + 12, header.destination);
  set_sequence(out, header.sequence);
}

void set_sequence(std::byte* header, std::uint64_t sequence) {
  store_number(header + 16, sequence);
}

FrameHeader read_header(const std::byte* bytes) {
  return {.body_size = load_number<std::uint32_t>(bytes),
          .kind = static_cast<FrameKind>(load_number<std::uint8_t>(bytes + 4)),
          .flags = load_number<std::uint8_t>(bytes + 5),
          .hops = load_number<std::uint16_t>(bytes + 6),
          .source = load_number<NodeId>(bytes + 8),
          .destination = load_number<NodeId>(bytes + 12),
          .sequence = load_number<std::uint64_t>(bytes + 16)};
}

Decoded decode(std::span<const std::byte> bytes, std::size_t placed) {
  Decoded result;
  if (bytes.size() < kHeaderSize) {
    result.size = kHeaderSize;
    return result;
  }
  FrameHeader& header = result.header;
  header = read_header(bytes.data());

  const char* name = name_of(header.kind);
  if (name == nullptr) {
    return malformed("a frame of unknown kind " + std::to_string(static_cast<int>(header.kind)));
  }
  if (header.body_size > kMaxBody) {
    return malformed(std::string(name) + " frame of " + std::to_string(header.body_size) +
                     " bytes, more than the " + std::to_string(kMaxBody) + " allowed");
  }
  if (header.flags > (is_routed(header.kind) ? kRepeated : 0)) {
    return malformed(std::string(name) + " frame with unknown flags " +
                     std::to_string(header.flags));
  }
  if (is_sequenced(header.kind) != (header.sequence != 0)) {
    return malformed(std::string(name) + " frame with sequence number " +
                     std::to_string(header.sequence));
  }
  const std::size_t body = header.body_size - std::min<std::size_t>(placed, header.body_size);
  result.size = kHeaderSize + body;
  if (bytes.size() < result.size) return result;
  result.state = Decoded::State::Frame;
  result.body = bytes.subspan(kHeaderSize, body);
  return result;
}

std::byte* Writer::room(std::size_t bytes) {
  out_.resize(out_.size() + bytes);
  return out_.data() + out_.size() - bytes;
}

void Writer::u8(std::uint8_t v) { store_number(room(sizeof v), v); }
void Writer::u16(std::uint16_t v) { store_number(room(sizeof v), v); }
void Writer::u32(std::uint32_t v) { store_number(room(sizeof v), v); }
void Writer::u64(std::uint64_t v) { store_number(room(sizeof v), v); }

void Writer::text(std::string_view v) {
  v = v.substr(0, 255);
  u8(static_cast<std::uint8_t>(v.size()));
  for (char c : v) out_.push_back(static_cast<std::byte>(c));
}

template <class T>
T Reader::get() {
  if (in_.size() < sizeof(T)) {
    good_ = false;
    in_ = {};
    return 0;
  }
  const T value = load_number<T>(in_.data());
  in_ = in_.subspan(sizeof(T));
  return value;
}

std::uint8_t Reader::u8() { return get<std::uint8_t>(); }
std::uint16_t Reader::u16() { return get<std::uint16_t>(); }
std::uint32_t Reader::u32() { return get<std::uint32_t>(); }
std::uint64_t Reader::u64() { return get<std::uint64_t>(); }

std::string Reader::text() {
  const std::size_t size = u8();
  if (in_.size() < size) {
    good_ = false;
    in_ = {};
    return {};
  }
  std::string value(reinterpret_cast<const char*>(in_.data()), size);
  in_ = in_.subspan(size);
  return value;
}

std::vector<std::byte> encode_hello(const Hello& hello) {
  std::vector<std::byte> body;
  Writer writer(body);
  for (char c : kMark) writer.u8(static_cast<std::uint8_t>(c));
  writer.u16(hello.version);
  writer.u16(0);
  writer.text(hello.software);
  writer.u32(hello.stream);
  writer.u64(hello.session);
  writer.u64(hello.peer_session);
  writer.u64(hello.received);
  writer.u64(hello.window);
  return body;
}

std::optional<Hello> decode_hello(std::span<const std::byte> body, std::string& reason) {
  Reader reader(body);
  for (char c : kMark) {
    if (reader.u8() != static_cast<std::uint8_t>(c)) {
      reason = "a Hello without the mark of Isthmus";
      return std::nullopt;
    }
  }
  Hello hello;
  hello.version = reader.u16();
  reader.u16();
  hello.software = reader.text();
  if (!reader.good()) {
    reason = "a Hello that ends too early";
    return std::nullopt;
  }
  std::replace_if(
      hello.software.begin(), hello.software.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (hello.version != kProtocolVersion) return hello;  // the caller refuses it by its version
  hello.stream = reader.u32();
  hello.session = reader.u64();
  hello.peer_session = reader.u64();
  hello.received = reader.u64();
  hello.window = reader.u64();
  if (!reader.good() || !reader.at_end() || hello.session == 0) {
    reason = "a Hello of the wrong form";
    return std::nullopt;
  }
  return hello;
}

std::vector<std::byte> encode_ack(const Ack& ack) {
  std::vector<std::byte> body;
  body.reserve(18 + 16 * ack.beyond.size());
  Writer writer(body);
  writer.u64(ack.received);
  writer.u64(ack.consumed);
  const std::size_t count = std::min(ack.beyond.size(), kMaxAckRanges);
  writer.u16(static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    writer.u64(ack.beyond[i].first);
    writer.u64(ack.beyond[i].second);
  }
  return body;
}

std::optional<Ack> decode_ack(std::span<const std::byte> body) {
  Reader reader(body);
  Ack ack;
  ack.received = reader.u64();
  ack.consumed = reader.u64();
  const std::size_t count = reader.u16();
  if (!reader.good() || count > kMaxAckRanges) return std::nullopt;
  std::uint64_t last = ack.received;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t from = reader.u64();
    const std::uint64_t to = reader.u64();
    if (!reader.good() || from <= last || to < from) return std::nullopt;
    ack.beyond.emplace_back(from, to);
    last = to;
  }
  if (!reader.at_end()) return std::nullopt;
  return ack;
}

}  // namespace isthmus::core
