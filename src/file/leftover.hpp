// Files that a process removes in the end. A signal that ends the process removes them, too.
#pragma once

#include <cstddef>
#include <string>

namespace isthmus::file {

/// A signal removes at most this many files of a process.
inline constexpr std::size_t kMostLeftovers = 256;

/// While this object lives, SIGTERM, SIGINT and SIGHUP remove the file at `path` before they end
/// the process. If the program has its own handlers of these signals, those stay, and so do the
/// files.
class Leftover {
 public:
  explicit Leftover(std::string path);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

 private:
  std::string* path_;
};

}  // namespace isthmus::file
