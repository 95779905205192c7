// Running a program as a child whose lines of output are prefixed.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace isthmus::daemon {

/// Puts `tag` before each line. Lines are handed on whole, but for those longer than kMaxHeld.
class LineTagger {
 public:
  static constexpr std::size_t kMaxHeld = 65536;
  explicit LineTagger(std::string tag) : tag_(std::move(tag)) {}
  /// The bytes that can be written now.
  std::string take(std::string_view bytes);
  /// The last line, when it has no line break; one is added.
  std::string finish();

 private:
  std::string tag_;
  std::string held_;
  bool mid_line_ = false;  // a line's beginning has been handed on without its end
};

/// Calls `become` (which is to exec) in a child, relays its output with `tag` before each line
/// and forwards signals to it. Returns its exit status; if a signal ended the child, the same
/// signal ends this process. The child is killed when this process is.
int run_tagged(const std::string& tag, const std::function<int()>& become);

}  // namespace isthmus::daemon
