#include "daemon/launch/argv_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "daemon/launch/failure.hpp"

namespace isthmus::daemon {

bool is_long(const std::vector<std::string>& argv) {
  constexpr std::size_t kMostWords = 256, kMostBytes = std::size_t{32} << 10;
  std::size_t bytes = 0;
  for (const std::string& word : argv) bytes += word.size() + 1;
  return argv.size() > kMostWords || bytes > kMostBytes;
}

void write_argv(const std::string& path, const std::vector<std::string>& argv) {
  std::ofstream file(path, std::ios::binary);
  for (const std::string& word : argv) file.write(word.c_str(), std::ssize(word) + 1);
  file.close();
  chmod(path.c_str(), 0600);  // whatever the umask
  if (!file) {
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
