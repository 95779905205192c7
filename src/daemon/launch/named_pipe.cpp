#include "daemon/launch/named_pipe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"

namespace isthmus::daemon {

NamedPipe make_named_pipe(const std::string& path) {
  NamedPipe made;
  if (mkfifo(path.c_str(), 0600) == 0) {
    made.ends.read.reset(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    made.ends.write.reset(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  }
  struct stat found {};
  if (!made.ends.write || fstat(made.ends.write.get(), &found) != 0) {
    throw Failure("Cannot make the pipe " + path + ": " + std::strerror(errno),
                  "Raise the limit of open files (ulimit -n).");
  }
  made.name = std::to_string(found.st_ino) + ":" + path;
  return made;
}

FileDescriptor open_by_name(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string path = name.substr(colon + 1);
  // The writer may have ended already. Without O_NONBLOCK open would wait for another.
  FileDescriptor opened(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const int error = errno;
  struct stat found {};
  if (opened.get() >= 0 && fstat(opened.get(), &found) == 0 && S_ISFIFO(found.st_mode) &&
      std::to_string(found.st_ino) == name.substr(0, colon) &&
      fcntl(opened.get(), F_SETFL, 0) == 0) {
    return opened;
  }
  throw Failure("Standard input cannot be opened on " + host_name() + " as " + path + ": " +
                    (opened.get() < 0 ? std::strerror(error) : "it is another file") + ".",
                "Run the program with its input from /dev/null, or let it read a file.");
}

}  // namespace isthmus::daemon
