#include "daemon/launch/argv_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {

bool is_long(const std::vector<std::string>& argv) {
  constexpr std::size_t kMostWords = 256, kMostBytes = std::size_t{32} << 10;
  std::size_t bytes = 0;
  for (const std::string& word : argv) bytes += word.size() + 1;
  return argv.size() > kMostWords || bytes > kMostBytes;
}

void write_argv(const std::string& path, const std::vector<std::string>& argv) {
  std::string bytes;
  for (const std::string& word : argv) bytes.append(word.c_str(), word.size() + 1);
  unlink(path.c_str());  // of a launch that was refused
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  std::size_t written = 0;
  while (file && written < bytes.size()) {
    const ssize_t n = write(file.get(), bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno != EINTR) break;
    written += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  }
  if (!file || written < bytes.size()) {
    throw Failure("the program's arguments cannot be written to " + path + ": " +
                  std::strerror(errno));
  }
}

std::vector<std::string> read_argv_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> argv;
  for (std::string word; std::getline(file, word, '\0');) argv.push_back(std::move(word));
  if (argv.empty()) {
    throw Failure("the program's arguments cannot be read from " + path,
                  "Keep the temporary files of a run until it ends.");
  }
  return argv;
}

}  // namespace isthmus::daemon
