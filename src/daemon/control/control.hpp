// Framing of the control plane (docs/control.md): one line of JSON (core/base/any_json.hpp), then n
// raw bytes if it has "n".
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace isthmus::daemon {

/// Longer than any command line that a kernel takes (6 MiB), also where most of it is escaped.
inline constexpr std::size_t kMaxLine = std::size_t{64} << 20;
inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

struct ControlMessage {
  nlohmann::json body;  ///< an object with a string at "op"
  std::string bytes;    ///< the raw bytes that followed; empty when there is no "n"
  /// Overwrites all strings at "secret", once they have been read.
  void wipe_secrets();
  std::string op() const { return body.at("op").get<std::string>(); }
};

/// The stream cannot be read on: what() is a sentence that says why.
class ControlError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Takes bytes as they come and gives messages. Holds at most one line and one payload beyond
/// what was fed and not yet taken.
class ControlDecoder {
 public:
  void feed(std::string_view bytes);
  /// The next whole message, or empty if it has not come yet. Throws ControlError if the bytes are
  /// not a message. Every later call then throws too, because the start of the next message is
  /// unknown.
  std::optional<ControlMessage> next();
  /// Whether nothing is left of what was fed.
  bool empty() const { return !pending_ && consumed_ == buffer_.size(); }

 private:
  [[noreturn]] void fail(const std::string& sentence);
  void read_line(std::string_view line);

  std::string buffer_;
  std::size_t consumed_ = 0;               // bytes of buffer_ already taken
  std::size_t scanned_ = 0;                // bytes of buffer_ known to hold no line break
  std::optional<ControlMessage> pending_;  // its line is read, its raw bytes are not
  std::size_t wanted_ = 0;                 // raw bytes of pending_
  std::string failed_;
};

/// The wire form. Sets "n" when there are raw bytes (at most kMaxBytes).
std::string encode(nlohmann::json body, std::string_view bytes = {});

}  // namespace isthmus::daemon
