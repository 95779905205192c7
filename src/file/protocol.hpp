// Messages between processes far from a file and its file service: one request, one reply.
// docs/protocol.md lists them byte by byte. Decoders trust nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace isthmus::file {

enum class Op : std::uint8_t {
  Open,         // a: flags (below), b: permissions, text: path, data: path of the shared number
  Close,        //
  ViewPart,     // data: the next bytes of an encoded type map
  View,         // a: displacement; the parts that came are the filetype, and no more
  Read,         // a: position in the view, b: bytes
  Write,        // a: position in the view, data
  Size,         // value: bytes
  Resize,       // a: bytes
  Preallocate,  // a: bytes
  Sync,         //
  Lock,         // a, b: the range of bytes
  Unlock,       //
  Add,          // a: the increment of the shared number; value: its old value
  Set,          // a: the shared number
  Remove,       // of no open file; text: path
};
inline constexpr Op kLastOp = Op::Remove;

// Flags of Op::Open, since the system's own differ between architectures.
inline constexpr std::int64_t kReads = 1, kWrites = 2, kCreates = 4, kExclusive = 8, kGoes = 16;

struct Request {
  std::uint64_t number = 0;  ///< the reply has the same
  Op op = Op::Close;
  std::uint64_t file = 0;  ///< the sender's number for it
  std::int64_t a = 0, b = 0;
  std::string text;
  std::span<const std::byte> data;  ///< borrowed
};

struct Reply {
  std::uint64_t number = 0;
  int error = 0;  ///< an errno of Linux, as every architecture of it has them
  std::int64_t value = 0;
  std::string sentence;             ///< of an error
  std::span<const std::byte> data;  ///< borrowed
};

/// The most data of a request or a reply: with everything before it, less than a service's message.
inline constexpr std::size_t kMostData = std::size_t{1} << 19;
inline constexpr std::size_t kMostText = 8192;

std::vector<std::byte> encode(const Request& request);
std::vector<std::byte> encode(const Reply& reply);
/// A reply whose data, at most `most` bytes, will be read into the memory behind its first `head`
/// bytes.
struct ReplyWithData {
  std::vector<std::byte> bytes;
  std::size_t head = 0;
};
ReplyWithData reply_with_room(std::uint64_t number, std::size_t most);
std::optional<Request> decode_request(std::span<const std::byte> bytes);
std::optional<Reply> decode_reply(std::span<const std::byte> bytes);

}  // namespace isthmus::file
