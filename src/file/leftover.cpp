#include "file/leftover.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/base/tidying.hpp"

namespace isthmus::file {
namespace {

int given = -1;  // tell_tidier_at's

// If a path cannot be completed, no file has it. The process that opens it reports that.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return error ? path : whole.string();
}

/// The process that removes files once this one has ended.
class Tidier {
 public:
  Tidier() : owner_(getpid()), socket_(start()) {}

  void tell(char letter, const std::string& path) {
    const std::string packet = letter + path;
    if (socket_ < 0 || owner_ != getpid()) return;  // a child may have inherited a locked mutex
    const core::Lock lock(mutex_);
    [[maybe_unused]] const auto sent = send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL);
  }

 private:
  /// This end of the socket, or -1. The process belongs to the run, but is not a rank.
  static int start() {
    if (given >= 0) return given;
    const char* const daemon = std::getenv("ISTHMUS_DAEMON");
    std::array<int, 2> ends{};
    if (daemon == nullptr || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data())) {
      return -1;
    }
    std::vector<char*> environment;
    for (char** each = environ; *each != nullptr; ++each) {
      if (std::strncmp(*each, "LD_PRELOAD=", 11) != 0 &&
          std::strncmp(*each, "ISTHMUS_RANK=", 13) != 0) {
        environment.push_back(*each);
      }
    }
    environment.push_back(nullptr);
    std::string name = "isthmusd", command = "tidy";
    std::array<char*, 3> words{name.data(), command.data(), nullptr};
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    for (const int output : {1, 2}) {  // whoever reads the rank's must not wait for this process
      posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
    }
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t none{};
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    const int error =
        posix_spawn(&pid, daemon, &actions, &attributes, words.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
      close(ends[0]);
      return -1;
    }
    waitpid(pid, nullptr, 0);  // at once: its child goes on, and the program sees no child of ours
    return ends[0];
  }

  core::Mutex mutex_;
  const pid_t owner_;
  const int socket_;
};

Tidier& tidier() {
  static auto* const one = new Tidier;  // never destroyed
  return *one;
}

}  // namespace

Leftover::Leftover(const std::string& path) : path_(absolute(path)) {
  tidier().tell(core::kTidyRemove, path_);
}

Leftover::~Leftover() { tidier().tell(core::kTidyKeep, path_); }

void tell_tidier_at(int socket) { given = socket; }

}  // namespace isthmus::file
