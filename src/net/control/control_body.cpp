#include "net/control/control_body.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

namespace isthmus::net {

using nlohmann::json;

namespace {

// The library would convert any number, whether it fits or not.
template <class T>
T number(const json& value) {
  if (value.is_number_unsigned() && std::in_range<T>(value.get<std::uint64_t>())) {
    return static_cast<T>(value.get<std::uint64_t>());
  }
  if (value.is_number_integer() && !value.is_number_unsigned() &&
      std::in_range<T>(value.get<std::int64_t>())) {
    return static_cast<T>(value.get<std::int64_t>());
  }
  throw std::out_of_range("not a number of its kind");
}

constexpr std::size_t kSentence = 4000;  // fits a frame, however its bytes are escaped

// Ways of a field, beside the usual one.
struct Optional {};  // may be absent
struct Whole {};     // a text that is not cut

struct Writer {
  static constexpr Optional optional{};
  static constexpr Whole whole{};
  json& object;

  void operator()(const char* key, const auto& value, Optional /*way*/ = {}) {
    object[key] = value;
  }
  void operator()(const char* key, const std::string& text, Optional /*way*/ = {}) {
    object[key] = text.substr(0, kSentence);
  }
  void operator()(const char* key, std::chrono::milliseconds time) { object[key] = time.count(); }
  void operator()(const char* key, const std::string& text, Whole /*way*/) { object[key] = text; }
};

// Throws what nlohmann::json throws, or std::out_of_range.
struct Reader {
  static constexpr Optional optional{};
  static constexpr Whole whole{};
  const json& object;

  template <class T>
  void operator()(const char* key, T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      value = object.at(key).get<T>();
    } else {
      value = number<T>(object.at(key));
    }
  }
  void operator()(const char* key, std::chrono::milliseconds& time) {
    time = std::chrono::milliseconds(number<std::uint32_t>(object.at(key)));
  }
  void operator()(const char* key, auto& value, Optional /*way*/) {
    if (object.contains(key)) (*this)(key, value);
  }
  void operator()(const char* key, std::string& text, Whole /*way*/) { (*this)(key, text); }
};

template <class T>
void write(json& out, const T& body) {
  T::fields(body, Writer{out[T::kName] = json::object()});
}
void write(json& out, const control::Joined& body) {
  out["joined"] = body.node;
  if (body.part != 0) out["part"] = body.part;
  if (!body.host.empty()) out["host"] = body.host;
}
void write(json& out, const control::Count& /*body*/) { out["count"] = true; }
void write(json& out, const control::Here& body) { out["here"] = body.text.substr(0, kSentence); }
void write(json& out, const control::Grown& body) { out["grown"] = body.growth; }

// Whether the text has the type.
template <class T>
bool read(const json& in, T& body) {
  if (!in.contains(T::kName)) return false;
  T::fields(body, Reader{in.at(T::kName)});
  return true;
}
bool read(const json& in, control::Joined& body) {
  if (!in.contains("joined")) return false;
  body.node = number<core::NodeId>(in.at("joined"));
  if (in.contains("part")) body.part = number<int>(in.at("part"));
  if (in.contains("host")) body.host = in.at("host").get<std::string>();
  return true;
}
bool read(const json& in, control::Count& /*body*/) { return in.contains("count"); }
bool read(const json& in, control::Here& body) {
  if (!in.contains("here")) return false;
  body.text = in.at("here").get<std::string>();
  return true;
}
bool read(const json& in, control::Grown& body) {
  if (!in.contains("grown")) return false;
  body.growth = in.at("grown").get<std::string>();
  return true;
}

// Tries the types in turn.
template <std::size_t I = 0>
std::optional<ControlBody> read_any(const json& in) {
  if constexpr (I == std::variant_size_v<ControlBody>) {
    return std::nullopt;
  } else {
    std::variant_alternative_t<I, ControlBody> body;
    if (read(in, body)) return body;
    return read_any<I + 1>(in);
  }
}

}  // namespace

DirectCount& DirectCount::operator+=(const DirectCount& more) {
  conduits += more.conduits;
  messages += more.messages;
  bytes += more.bytes;
  wire_bytes += more.wire_bytes;
  ucx += more.ucx;
  streams += more.streams;
  repeated += more.repeated;
  return *this;
}

DirectCount DirectCount::operator-(const DirectCount& less) const {
  return {conduits - less.conduits,     messages - less.messages, bytes - less.bytes,
          wire_bytes - less.wire_bytes, ucx - less.ucx,           streams - less.streams,
          repeated - less.repeated};
}

std::vector<std::byte> encode_control(const ControlBody& body) {
  json value;
  std::visit([&value](const auto& each) { write(value, each); }, body);
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::optional<ControlBody> decode_control(std::span<const std::byte> bytes) {
  // A deeply nested text would exhaust the parser's stack; ours have two levels.
  int depth = 0;
  const auto too_deep = [&depth](int level, json::parse_event_t, json&) {
    depth = std::max(depth, level);
    return level <= 4;
  };
  const auto* first = reinterpret_cast<const char*>(bytes.data());
  const json value = json::parse(first, first + bytes.size(), too_deep, false);
  if (!value.is_object() || depth > 4) return std::nullopt;
  try {
    return read_any(value);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace isthmus::net
