#include "daemon/launch/inherited_pipe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"

namespace isthmus::daemon {

std::string name_of_pipe(int fd) {
  struct stat found {};
  fstat(fd, &found);
  return fmt::format("{}:/proc/{}/fd/{}", found.st_ino, getpid(), fd);
}

FileDescriptor open_inherited(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string path = name.substr(colon + 1);
  FileDescriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const int error = errno;
  struct stat found {};
  if (opened.get() >= 0 && fstat(opened.get(), &found) == 0 && S_ISFIFO(found.st_mode) &&
      std::to_string(found.st_ino) == name.substr(0, colon)) {
    return opened;
  }
  throw Failure("standard input cannot be opened on " + host_name() + " as " + path + ": " +
                    (opened.get() < 0 ? std::strerror(error) : "it is another file"),
                "Run the program with its input from /dev/null, or let it read a file.");
}

}  // namespace isthmus::daemon
