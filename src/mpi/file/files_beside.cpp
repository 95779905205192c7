#include "mpi/file/files_beside.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>
#include <string_view>

namespace isthmus::face {
namespace {

std::string random_name() {
  std::random_device device;
  std::string name;
  for (int k = 0; k < 16; ++k) name += "0123456789abcdef"[device() % 16];
  return name;
}

}  // namespace

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

std::string shared_pointer_beside(const std::string& path) {
  constexpr std::string_view kMark = ".isthmus-pointer-";
  const std::string random = random_name();
  const auto [folder, name] = split_path(path);
  return folder + "." + name.substr(0, NAME_MAX - 1 - kMark.size() - random.size()) +
         std::string(kMark) + random;
}

std::string leave_nonce(const std::string& folder) {
  std::string nonce = folder + ".isthmus-" + random_name();
  const int descriptor = open(nonce.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return "";
  close(descriptor);
  return nonce;
}

Nonce::~Nonce() {
  if (mine_) unlink(path_.c_str());  // before `mine_` goes
}

bool Nonce::seen() const { return !path_.empty() && access(path_.c_str(), F_OK) == 0; }

bool Nonce::is_own() const {
  struct stat found {};
  return !path_.empty() && stat(path_.c_str(), &found) == 0 && found.st_uid == geteuid();
}

}  // namespace isthmus::face
