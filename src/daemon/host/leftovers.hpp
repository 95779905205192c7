// A folder that goes when its process ends, even by SIGKILL.
#pragma once

#include <string>

#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {

/// Starts a shell that removes a folder, with all it holds, once this object or its process has
/// gone. Without a process to spare it does nothing. The constructor forks.
class Leftovers {
 public:
  explicit Leftovers(const std::string& folder);

 private:
  FileDescriptor alive_;  // no other process has this end of the pipe
};

}  // namespace isthmus::daemon
