// The private folder of one job on one host: sockets and small files.
#pragma once

#include <memory>
#include <string>

#include "daemon/host/file_descriptor.hpp"
#include "daemon/host/leftovers.hpp"

namespace isthmus::daemon {

/// Made with mode 0700 below the first of $XDG_RUNTIME_DIR, /tmp, $TMPDIR and /dev/shm that can be
/// written. The destructor removes it with all it holds. If its agent is killed, Leftovers removes
/// it. If both are killed, the next agent that the user starts on this host does so.
class RuntimeDir {
 public:
  /// Throws Failure when no folder can be made.
  explicit RuntimeDir(const std::string& job);
  ~RuntimeDir();
  RuntimeDir(const RuntimeDir&) = delete;
  RuntimeDir& operator=(const RuntimeDir&) = delete;

  const std::string& path() const { return path_; }
  /// Whether another agent of the same job and user has its folder on this host as well.
  bool has_siblings() const;

 private:
  std::string path_;
  FileDescriptor lock_;  // held on the file "lock" as long as this process lives
  std::unique_ptr<Leftovers> leftovers_;
};

}  // namespace isthmus::daemon
