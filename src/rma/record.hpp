// Messages between the processes of a window: records, several in a message of the window's
// service. docs/rma.md lists them. Little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/own_order.hpp"
#include "rma/element.hpp"

namespace isthmus::rma {

enum class Kind : std::uint8_t {
  // Sent by an origin to a target.
  Map = 1,     ///< a datatype of this origin's, which it names by its number from now on
  Put,         ///< Area, data
  PutApart,    ///< Area, tag: the data comes as a message of its own
  Get,         ///< Area, tag of the answer
  Accumulate,  ///< Area, Combination, tag of the answer or 0, data
  Compare,     ///< compare and swap: Comparison, the two values
  Lock,        ///< LockType
  Unlock,      ///< number of the answer
  Flush,       ///< number of the answer
  Post,        ///< MPI_Win_post: you may begin
  Complete,    ///< MPI_Win_complete: that is all
  // Back.
  Granted,  ///< the lock is yours
  Done,     ///< number of its request: all up to there is done; Outcome; its words, if DeviceFailed
  // Sent by an origin, too.
  AccumulateApart,  ///< Area, Combination: the data follows in messages with kDataTag
  Pass,             ///< the requested shared lock passes (LockType)
};

/// The tag of messages of the service that are not records, but data of the last one.
inline constexpr std::int32_t kDataTag = 1;

/// The result of an origin's operations since the last Done.
enum class Outcome : std::uint8_t {
  Good,
  OutOfRange,    ///< one was beyond the window
  DeviceFailed,  ///< the window's memory is on a device that could not be copied from or to
};
/// The longest words of a device's driver that travel.
inline constexpr std::size_t kMostWords = 400;

/// The part of a window that an operation names: packed bytes `position` to `position + size` of
/// `count` elements of a datatype. Without a datatype (`map` 0): `size` bytes of memory in a row.
struct Area {
  std::int64_t displacement = 0;
  std::uint32_t map = 0;
  std::uint64_t size = 0;
  std::int64_t count = 0;
  std::uint64_t position = 0;
};

/// The operation and the elements of an accumulate.
struct Combination {
  Op op = Op::Replace;
  Element element;
};

class RecordWriter {
 public:
  explicit RecordWriter(std::vector<std::byte>& out) : out_(out) {}
  RecordWriter& put(Kind kind) { return put(static_cast<std::uint8_t>(kind)); }
  template <class T>
  requires std::is_integral_v<T> RecordWriter& put(T value) {
    core::little_endian(value);
    return put(std::as_bytes(std::span(&value, 1)));
  }
  RecordWriter& put(const Area& area);
  RecordWriter& put(const Combination& how);
  RecordWriter& put(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    return *this;
  }

 private:
  std::vector<std::byte>& out_;
};

/// Reads untrusted bytes. After reading beyond the end it is bad, and reads zeros.
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> in) : in_(in) {}
  bool at_end() const { return in_.empty(); }
  bool good() const { return good_; }
  std::span<const std::byte> rest() const { return in_; }
  template <class T>
  T get() {
    static_assert(std::is_integral_v<T>);
    T value = 0;
    const auto from = bytes(sizeof value);
    if (from.size() == sizeof value) std::memcpy(&value, from.data(), sizeof value);
    core::little_endian(value);
    return value;
  }
  std::span<const std::byte> bytes(std::uint64_t size);
  /// May be an unknown kind: other members' bytes are not trusted.
  Kind kind() {
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange)
    return static_cast<Kind>(get<std::uint8_t>());
  }
  Area area();
  /// Empty: unknown operation or element.
  std::optional<Combination> combination();

 private:
  std::span<const std::byte> in_;
  bool good_ = true;
};

}  // namespace isthmus::rma
