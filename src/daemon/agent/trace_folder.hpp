// The folder where traces of one agent's processes wait until the launcher fetches them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/host/leftovers.hpp"

namespace isthmus::daemon {

/// A folder of its own. The destructor removes it with all it holds, or Leftovers does.
class TraceFolder {
 public:
  struct File {
    std::string name;
    std::size_t size = 0;
  };
  /// Made with mode 0700 in `base`. Throws Failure that names it.
  TraceFolder(const std::filesystem::path& base, const std::string& job);
  ~TraceFolder();
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  const std::string& path() const { return path_; }
  /// The traces that are there, by name.
  std::vector<File> files() const;
  bool has(const std::string& name) const;
  /// Some of one of `files()`: at most `most` bytes, fewer at its end. Throws Failure.
  std::string read(const std::string& name, std::size_t offset, std::size_t most) const;

 private:
  std::string path_;
  std::unique_ptr<Leftovers> leftovers_;
};

}  // namespace isthmus::daemon
