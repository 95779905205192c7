// Preloaded into ranks of native MPIs that spin. A poll that would return at once waits up to a
// millisecond for an event, after a few polls in a row without one. Many ranks can then share few
// cores. An event wakes a rank at once.
//
// Open MPI yields its core after such polls if `opal_progress_yield_when_idle` is set. While it is
// not, polls do not wait either: a rank of Isthmus that looks at two networks in turn unsets it.
//
// ISTHMUS_NOSPIN_EMPTY: the number of polls in a row without an event (4; 0 switches it off).
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

constexpr int kPause = 1;              // milliseconds
constexpr std::size_t kSignalSet = 8;  // bytes of the kernel's sigset_t

thread_local int empty = 0;

int patience() {
  static const int count = [] {
    const char* text = std::getenv("ISTHMUS_NOSPIN_EMPTY");
    return text != nullptr ? std::atoi(text) : 4;
  }();
  return count;
}

bool may_wait() {
  // Null: not Open MPI, or not loaded yet.
  static thread_local const volatile bool* yields = nullptr;
  if (yields == nullptr) {
    yields = static_cast<const bool*>(dlsym(RTLD_DEFAULT, "opal_progress_yield_when_idle"));
  }
  return yields == nullptr || *yields;
}

int pause_time() {
  if (patience() <= 0 || empty < patience()) return 0;
  if (!may_wait()) empty = 0;
  return empty == 0 ? 0 : kPause;
}

int counted(long ready) {
  empty = ready == 0 ? empty + (empty < 1'000'000) : 0;
  return static_cast<int>(ready);
}

int any_epoll(int fd, epoll_event* events, int count, int timeout, const sigset_t* mask) {
  const auto wait = [&](int limit) {
    return syscall(SYS_epoll_pwait, fd, events, count, limit, mask, kSignalSet);
  };
  return timeout != 0 ? static_cast<int>(wait(timeout)) : counted(wait(pause_time()));
}

int any_poll(pollfd* fds, nfds_t count, int timeout) {
  const auto wait = [&](int limit) {
    timespec time{limit / 1000, limit % 1000 * 1'000'000L};
    return syscall(SYS_ppoll, fds, count, limit < 0 ? nullptr : &time, nullptr, kSignalSet);
  };
  return timeout != 0 ? static_cast<int>(wait(timeout)) : counted(wait(pause_time()));
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int epoll_pwait(int fd, epoll_event* events, int count,
                                                       int timeout, const sigset_t* mask) {
  return any_epoll(fd, events, count, timeout, mask);
}

__attribute__((visibility("default"))) int epoll_wait(int fd, epoll_event* events, int count,
                                                      int timeout) {
  return any_epoll(fd, events, count, timeout, nullptr);
}

__attribute__((visibility("default"))) int poll(pollfd* fds, nfds_t count, int timeout) {
  return any_poll(fds, count, timeout);
}

// glibc's name for poll in sources compiled with _FORTIFY_SOURCE.
__attribute__((visibility("default"))) int __poll_chk(pollfd* fds, nfds_t count, int timeout,
                                                      std::size_t) {
  return any_poll(fds, count, timeout);
}

}  // extern "C"
