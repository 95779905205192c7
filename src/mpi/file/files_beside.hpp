// Files that Isthmus keeps beside a grid file: its shared pointer, and a nonce while it is opened.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "file/leftover.hpp"

namespace isthmus::face {

/// The folder of a file, with its slash (empty: the working directory), and its name there.
std::pair<std::string, std::string> split_path(const std::string& path);

/// A name for the shared pointer of the file at `path`. It has as much of the file's name as the
/// system leaves room for, and a random number.
std::string shared_pointer_beside(const std::string& path);

/// Makes a file in `folder` that only this file system can have. Empty if that is not allowed.
std::string leave_nonce(const std::string& folder);

/// The nonce as each process sees it. The process that left it removes it in the end.
class Nonce {
 public:
  /// `path` is empty if the folder has none.
  Nonce(std::string path, bool mine) : path_(std::move(path)) {
    if (mine && !path_.empty()) mine_.emplace(path_);
  }
  ~Nonce();
  Nonce(const Nonce&) = delete;
  Nonce& operator=(const Nonce&) = delete;
  bool seen() const;
  /// It belongs to this process's user, who may open the same files as the home's processes.
  bool is_own() const;

 private:
  std::string path_;
  std::optional<file::Leftover> mine_;
};

}  // namespace isthmus::face
