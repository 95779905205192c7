#include "daemon/host/runtime_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

std::string folder_lead() { return fmt::format("isthmus-{}-", getuid()); }

constexpr std::size_t kLongestBase = 48;  // a longer one leaves no room for the names of sockets

// TMPDIR comes behind /tmp: schedulers give each step its own, and agents of one job look for each
// other.
std::vector<std::string> bases() {
  std::vector<std::string> found;
  const auto add = [&found](const char* named) {
    const std::string base = named != nullptr ? named : "";
    if (base.empty() || base.size() > kLongestBase || base.front() != '/') return;
    if (std::find(found.begin(), found.end(), base) == found.end()) found.push_back(base);
  };
  add(std::getenv("XDG_RUNTIME_DIR"));
  add("/tmp");
  add(std::getenv("TMPDIR"));
  add("/dev/shm");
  return found;
}

// The lock is held before the file has its name, so that nobody finds it unlocked.
FileDescriptor lock_folder(const std::string& path) {
  const std::string early = path + "/lock.new";
  FileDescriptor file(open(early.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
  fchmod(file.get(), 0600);
  rename(early.c_str(), (path + "/lock").c_str());
  return file;
}

void remove_abandoned(const std::string& base) {
  std::error_code error;
  for (fs::directory_iterator at(base, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(folder_lead())) continue;
    struct stat about {};
    if (lstat(at->path().c_str(), &about) != 0 || !S_ISDIR(about.st_mode) ||
        about.st_uid != getuid()) {
      continue;
    }
    const FileDescriptor lock(open((at->path() / "lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    std::error_code ignored;
    if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(at->path(), ignored);
  }
}

// Socket paths are at most 107 bytes long: the name keeps only the beginning of the job's.
std::string folder_name(const std::string& job) {
  std::string name = folder_lead();
  for (const char c : job.substr(0, 24)) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name + "-XXXXXX";
}

}  // namespace

RuntimeDir::RuntimeDir(const std::string& job) {
  const std::vector<std::string> all = bases();
  // Also where this one will not be: who was killed may have had another environment.
  for (const std::string& base : all) remove_abandoned(base);
  int error = 0;
  for (const std::string& base : all) {
    std::string path = base + "/" + folder_name(job);
    if (mkdtemp(path.data()) != nullptr) {  // the name is new
      chmod(path.c_str(), 0700);            // whatever the umask
      path_ = path;
      lock_ = lock_folder(path);
      leftovers_ = std::make_unique<Leftovers>(path);
      return;
    }
    error = errno;
  }
  throw Failure(
      std::string("cannot make a private folder in $XDG_RUNTIME_DIR, /tmp, $TMPDIR or /dev/shm: ") +
          std::strerror(error),
      fmt::format("Make one of them writable; its path may have at most {} bytes.", kLongestBase));
}

bool RuntimeDir::has_siblings() const {
  const fs::path own(path_);
  const std::string name = own.filename().string();
  const std::string job = name.substr(0, name.rfind('-') + 1);
  std::error_code error;
  for (fs::directory_iterator at(own.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    const std::string other = at->path().filename().string();
    struct stat about {};
    if (other.size() == name.size() && other.starts_with(job) && other != name &&
        lstat(at->path().c_str(), &about) == 0 && about.st_uid == getuid()) {
      return true;
    }
  }
  return false;
}

RuntimeDir::~RuntimeDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace isthmus::daemon
