#include "daemon/launch/tagged_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"
#include "daemon/host/host.hpp"

namespace isthmus::daemon {
namespace {

struct Relay {
  Relay(int to, const std::string& tag) : target(to), tagger(tag) {}
  FileDescriptor pipe;
  int target;
  LineTagger tagger;

  void put(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t got = write(target, text.data() + done, text.size() - done);
      if (got < 0 && errno == EAGAIN) {  // the launcher may have made it non-blocking
        pollfd wait{target, POLLOUT, 0};
        poll(&wait, 1, -1);
      } else if (got < 0 && errno != EINTR) {
        return;  // nobody reads it any more
      } else if (got > 0) {
        done += static_cast<std::size_t>(got);
      }
    }
  }
  void pump() {
    std::array<char, 32768> block{};
    const ssize_t got = read(pipe.get(), block.data(), block.size());
    if (got > 0) {
      put(tagger.take({block.data(), static_cast<std::size_t>(got)}));
    } else if (got == 0 || errno != EINTR) {
      put(tagger.finish());
      pipe.reset();
    }
  }
};

sigset_t forwarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGALRM, SIGCHLD}) {
    sigaddset(&set, number);
  }
  return set;
}

void forward_signals(int fd, pid_t child) {
  signalfd_siginfo info{};
  while (read(fd, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) kill(child, static_cast<int>(info.ssi_signo));
  }
}

int mirror(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const rlimit no_core{0, 0};  // the child has left its own
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(WTERMSIG(status), SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

}  // namespace

std::string LineTagger::take(std::string_view bytes) {
  std::string ready;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const bool whole = end != std::string_view::npos;
    held_ += bytes.substr(0, whole ? end + 1 : bytes.size());
    bytes.remove_prefix(whole ? end + 1 : bytes.size());
    if (!whole && held_.size() < kMaxHeld) break;
    if (!mid_line_) ready += tag_;
    ready += held_;
    held_.clear();
    mid_line_ = !whole;
  }
  return ready;
}

std::string LineTagger::finish() {
  if (held_.empty() && !mid_line_) return {};
  std::string ready = (mid_line_ ? "" : tag_) + held_ + "\n";
  held_.clear();
  mid_line_ = false;
  return ready;
}

int run_tagged(const std::string& tag, const std::function<int()>& become) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) {
    std::cerr << "isthmus: cannot make pipes: " << std::strerror(errno) << std::endl;
    return 126;
  }
  const sigset_t watched = forwarded_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw Failure("cannot start a process for the rank's output on " + host_name() + ": " +
                      std::strerror(errno),
                  kRaiseLimit);
  }
  if (child == 0) {
    // Its own group: a signal to the launcher's group then reaches it once, through its parent.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    dup2(out[1], 1);
    dup2(err[1], 2);
    _exit(become());
  }
  close(out[1]);
  close(err[1]);
  Relay relays[]{{1, tag}, {2, tag}};
  relays[0].pipe.reset(out[0]);
  relays[1].pipe.reset(err[0]);
  const FileDescriptor signals(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  std::signal(SIGPIPE, SIG_IGN);

  int status = 0;
  bool ended = false;
  while (!ended) {
    std::array<pollfd, 3> polled{{{relays[0].pipe.get(), POLLIN, 0},
                                  {relays[1].pipe.get(), POLLIN, 0},
                                  {signals.get(), POLLIN, 0}}};
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) break;
    if (polled[0].revents != 0) relays[0].pump();
    if (polled[1].revents != 0) relays[1].pump();
    forward_signals(signals.get(), child);
    ended = waitpid(child, &status, WNOHANG) == child;
  }
  // Reads the bytes that are in the pipes now. A process that the program left behind may hold them
  // open.
  for (Relay& relay : relays) {
    while (relay.pipe) {
      pollfd wait{relay.pipe.get(), POLLIN, 0};
      if (poll(&wait, 1, 0) <= 0) break;
      relay.pump();
    }
    relay.put(relay.tagger.finish());
  }
  return mirror(status);
}

}  // namespace isthmus::daemon
