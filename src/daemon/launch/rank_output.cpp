#include "daemon/launch/rank_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {

std::string file_name(const std::string& pattern, const RankIdentity& who) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'r') {
      name += std::to_string(who.rank);
    } else if (next == 'h') {
      name += who.host;
    } else if (next == 'j') {
      name += who.job;
    } else if (next == '%') {
      name += '%';
    } else {
      name += pattern[i];
      continue;
    }
    ++i;
  }
  return name;
}

void redirect(int fd, const std::string& file, const RankIdentity& who) {
  const FileDescriptor opened(
      open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (opened.get() < 0 || dup2(opened.get(), fd) < 0) {
    throw Failure("the output file '" + file + "' cannot be written on " + who.host + ": " +
                      std::strerror(errno),
                  "Its folder must exist on every host that has ranks.");
  }
}

void show_rank(int fd, const RankIdentity& who) {
  const std::string line =
      fmt::format("isthmus: rank {}: {}, process {}\n", who.rank, who.host, getpid());
  [[maybe_unused]] const ssize_t written = write(fd, line.data(), line.size());
}

}  // namespace isthmus::daemon
