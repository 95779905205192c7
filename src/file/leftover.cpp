#include "file/leftover.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace isthmus::file {
namespace {

std::array<std::atomic<const std::string*>, kMostLeftovers> paths;
std::atomic<bool> ending = false;
std::atomic<pid_t> owner = 0;  // children that a program forks own no file

// On any thread, beside those that add and take away.
void remove_all_and_end(int number) {
  const int error = errno;
  ending.store(true);
  if (owner.load() == getpid()) {
    for (const auto& path : paths) {
      if (const std::string* const there = path.load()) unlink(there->c_str());
    }
  }
  errno = error;
  raise(number);  // SA_RESETHAND: this time it ends the process
}

// Leaves the program's own handler alone. Called for each file, since that may have gone.
void take_over(int number) {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != SIG_DFL) {
    return;
  }
  struct sigaction own {};
  own.sa_handler = remove_all_and_end;
  own.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  sigemptyset(&own.sa_mask);
  sigaction(number, &own, nullptr);
}

}  // namespace

Leftover::Leftover(std::string path) : path_(new std::string(std::move(path))) {
  owner.store(getpid());
  for (auto& place : paths) {
    const std::string* none = nullptr;
    if (place.compare_exchange_strong(none, path_)) break;
  }
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) take_over(number);
}

Leftover::~Leftover() {
  for (auto& place : paths) {
    const std::string* mine = path_;
    if (place.compare_exchange_strong(mine, nullptr)) break;
  }
  // The handler may still look at it, if it began before.
  if (!ending.load()) delete path_;
}

}  // namespace isthmus::file
