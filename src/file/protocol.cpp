#include "file/protocol.hpp"

#include "core/wire/wire.hpp"

namespace isthmus::file {
namespace {

constexpr std::size_t kRequestHead = 8 + 1 + 8 + 8 + 8 + 4;
constexpr std::size_t kReplyHead = 8 + 4 + 8 + 4;

void put(std::vector<std::byte>& out, const std::string& text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), first, first + text.size());
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::byte> encode(const Request& request) {
  std::vector<std::byte> out;
  out.reserve(kRequestHead + request.text.size() + request.data.size());
  core::Writer to(out);
  to.u64(request.number);
  to.u8(static_cast<std::uint8_t>(request.op));
  to.u64(request.file);
  to.u64(static_cast<std::uint64_t>(request.a));
  to.u64(static_cast<std::uint64_t>(request.b));
  to.u32(static_cast<std::uint32_t>(request.text.size()));
  put(out, request.text);
  out.insert(out.end(), request.data.begin(), request.data.end());
  return out;
}

std::vector<std::byte> encode(const Reply& reply) {
  std::vector<std::byte> out;
  out.reserve(kReplyHead + reply.sentence.size() + reply.data.size());
  core::Writer to(out);
  to.u64(reply.number);
  to.u32(static_cast<std::uint32_t>(reply.error));
  to.u64(static_cast<std::uint64_t>(reply.value));
  const std::string sentence = reply.sentence.substr(0, kMostText);
  to.u32(static_cast<std::uint32_t>(sentence.size()));
  put(out, sentence);
  out.insert(out.end(), reply.data.begin(), reply.data.end());
  return out;
}

ReplyWithData reply_with_room(std::uint64_t number, std::size_t most) {
  Reply reply;
  reply.number = number;
  ReplyWithData made{encode(reply), 0};
  made.head = made.bytes.size();
  made.bytes.resize(made.head + most);
  return made;
}

std::optional<Request> decode_request(std::span<const std::byte> bytes) {
  if (bytes.size() < kRequestHead) return std::nullopt;
  core::Reader from(bytes);
  Request request;
  request.number = from.u64();
  request.op = static_cast<Op>(from.u8());
  request.file = from.u64();
  request.a = static_cast<std::int64_t>(from.u64());
  request.b = static_cast<std::int64_t>(from.u64());
  const std::size_t text = from.u32();
  bytes = bytes.subspan(kRequestHead);
  if (request.op > kLastOp || text > kMostText || text > bytes.size() ||
      bytes.size() - text > kMostData) {
    return std::nullopt;
  }
  request.text = text_of(bytes.first(text));
  request.data = bytes.subspan(text);
  return request;
}

std::optional<Reply> decode_reply(std::span<const std::byte> bytes) {
  if (bytes.size() < kReplyHead) return std::nullopt;
  core::Reader from(bytes);
  Reply reply;
  reply.number = from.u64();
  reply.error = static_cast<int>(from.u32());
  reply.value = static_cast<std::int64_t>(from.u64());
  const std::size_t text = from.u32();
  bytes = bytes.subspan(kReplyHead);
  if (text > kMostText || text > bytes.size() || bytes.size() - text > kMostData) {
    return std::nullopt;
  }
  reply.sentence = text_of(bytes.first(text));
  reply.data = bytes.subspan(text);
  return reply;
}

}  // namespace isthmus::file
