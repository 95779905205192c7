// Preloaded into ranks of native MPIs that spin. A poll that would return at once waits up to a
// millisecond for an event, after a few polls in a row without one. Many ranks can then share few
// cores. An event wakes a rank at once.
//
// A thread that waits for Isthmus is not delayed. It looks at the native library and at the grid in
// turn, and naps by itself. Asleep at one, it would notice the other's events late. It reports its
// waits (isthmus_nospin_withhold); a thread that only tests is recognized by Isthmus's own polls.
//
// ISTHMUS_NOSPIN_EMPTY: the number of polls in a row without an event (4; 0 switches it off).
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr int kPause = 1;              // milliseconds
constexpr std::size_t kSignalSet = 8;  // bytes of the kernel's sigset_t

thread_local int empty = 0;
thread_local int withheld = 0;

int patience() {
  static const int count = [] {
    const char* text = std::getenv("ISTHMUS_NOSPIN_EMPTY");
    return text != nullptr ? std::atoi(text) : 4;
  }();
  return count;
}

// Whether a call comes from one of Isthmus's libraries. Asks the linker once for each place.
bool of_isthmus(const void* caller) {
  struct Place {
    const void* caller = nullptr;
    bool ours = false;
  };
  static thread_local std::array<Place, 16> places;
  Place& known = places[(reinterpret_cast<std::uintptr_t>(caller) >> 4U) % places.size()];
  if (known.caller != caller) {
    Dl_info info{};
    known.ours = dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
                 std::strstr(info.dli_fname, "/libisthmus") != nullptr;
    known.caller = caller;
  }
  return known.ours;
}

int pause_time(const void* caller) {
  if (patience() <= 0) return 0;
  if (withheld > 0 || of_isthmus(caller)) empty = 0;
  return empty >= patience() ? kPause : 0;
}

int counted(long ready) {
  empty = ready == 0 ? empty + (empty < 1'000'000) : 0;
  return static_cast<int>(ready);
}

int any_epoll(int fd, epoll_event* events, int count, int timeout, const sigset_t* mask,
              const void* caller) {
  const auto wait = [&](int limit) {
    return syscall(SYS_epoll_pwait, fd, events, count, limit, mask, kSignalSet);
  };
  return timeout != 0 ? static_cast<int>(wait(timeout)) : counted(wait(pause_time(caller)));
}

int any_poll(pollfd* fds, nfds_t count, int timeout, const void* caller) {
  const auto wait = [&](int limit) {
    timespec time{limit / 1000, limit % 1000 * 1'000'000L};
    return syscall(SYS_ppoll, fds, count, limit < 0 ? nullptr : &time, nullptr, kSignalSet);
  };
  return timeout != 0 ? static_cast<int>(wait(timeout)) : counted(wait(pause_time(caller)));
}

}  // namespace

extern "C" {

// Called by Isthmus's MPI part: polls of this thread do not wait until as many -1 as 1 have been
// given.
__attribute__((visibility("default"))) void isthmus_nospin_withhold(int more) { withheld += more; }

__attribute__((visibility("default"))) int epoll_pwait(int fd, epoll_event* events, int count,
                                                       int timeout, const sigset_t* mask) {
  return any_epoll(fd, events, count, timeout, mask, __builtin_return_address(0));
}

__attribute__((visibility("default"))) int epoll_wait(int fd, epoll_event* events, int count,
                                                      int timeout) {
  return any_epoll(fd, events, count, timeout, nullptr, __builtin_return_address(0));
}

__attribute__((visibility("default"))) int poll(pollfd* fds, nfds_t count, int timeout) {
  return any_poll(fds, count, timeout, __builtin_return_address(0));
}

// glibc's name for poll in sources compiled with _FORTIFY_SOURCE.
__attribute__((visibility("default"))) int __poll_chk(pollfd* fds, nfds_t count, int timeout,
                                                      std::size_t) {
  return any_poll(fds, count, timeout, __builtin_return_address(0));
}

}  // extern "C"
