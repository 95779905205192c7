#include "daemon/launch/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "daemon/host/failure.hpp"
#include "daemon/host/open_files.hpp"
#include "daemon/launch/pointers.hpp"

namespace isthmus::daemon {
namespace {

// After fork, before exec: only async-signal-safe calls, since other threads may have held locks.
void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Descriptors that others opened without O_CLOEXEC (sockets of libraries) must not live on in
// the program.
void close_on_exec_from(int first) {
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC, absent from older headers
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, kCloseOnExec) == 0) return;
#endif
  const long limit = std::min(sysconf(_SC_OPEN_MAX), 65536L);  // a kernel before 5.11
  for (int fd = first; fd < limit; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void report(int fd, int error) {
  // The parent reads either nothing (exec worked) or this whole int.
  [[maybe_unused]] const ssize_t written = write(fd, &error, sizeof error);
}

bool dup_onto(int from, int to) {
  if (from == to) return fcntl(to, F_SETFD, 0) == 0;
  return from >= 0 && dup2(from, to) >= 0;
}

bool drain(int fd, std::string& into, std::size_t limit) {
  std::array<char, 4096> block{};
  const ssize_t got = read(fd, block.data(), block.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into.append(block.data(), static_cast<std::size_t>(got));
  return got > 0 && into.size() <= limit;
}

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) {
    throw Failure(std::string("cannot make a pipe: ") + std::strerror(errno),
                  "Raise the limit of open files (ulimit -n).");
  }
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Child start_child(const ChildPlan& plan) {
  const std::vector<std::string> environment = plan.environment.strings();
  for (const auto& list : {plan.argv, environment}) {
    for (const std::string& text : list) {
      if (text.size() > kMaxExecString) {
        throw Failure(fmt::format("'{}...' is longer ({} bytes) than the kernel passes on to '{}'",
                                  text.substr(0, 40), text.size(), plan.argv.front()),
                      "Shorten the argument or environment variable.");
      }
    }
  }
  const std::vector<char*> argv = pointers(plan.argv);
  const std::vector<char*> envp = pointers(environment);

  Pipe in, out, err;
  if (plan.piped_stdin) {
    in = make_pipe();
  } else {
    in.read.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  out = make_pipe();
  err = make_pipe();
  Pipe trouble = make_pipe();
  const pid_t parent = getpid();

  const pid_t pid = fork();
  if (pid < 0) {
    throw Failure("cannot start '" + plan.argv.front() + "': " + std::strerror(errno), kRaiseLimit);
  }
  if (pid == 0) {
    reset_signals();
    restore_open_files();
    if (plan.own_group) setpgid(0, 0);
    if (plan.death_signal != 0) {
      prctl(PR_SET_PDEATHSIG, plan.death_signal);
      if (getppid() != parent) _exit(127);  // it died before prctl
    }
    close_on_exec_from(3);
    const bool streams =
        dup_onto(in.read.get(), 0) && dup_onto(out.write.get(), 1) && dup_onto(err.write.get(), 2);
    if (streams && (plan.directory.empty() || chdir(plan.directory.c_str()) == 0)) {
      execve(argv[0], argv.data(), envp.data());
    }
    report(trouble.write.get(), errno);
    _exit(127);
  }
  if (plan.own_group) setpgid(pid, pid);  // whichever of the two comes first
  trouble.write.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(trouble.read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) {
    waitpid(pid, nullptr, 0);
    throw Failure("cannot start '" + plan.argv.front() + "'" +
                      (plan.directory.empty() ? "" : " in '" + plan.directory + "'") + ": " +
                      std::strerror(error),
                  error == E2BIG ? "Shorten the arguments or the environment, or raise the limit "
                                   "of the stack (ulimit -s), a fourth of which they may take."
                                 : "");
  }
  return {pid, std::move(in.write), std::move(out.read), std::move(err.read)};
}

Captured capture(ChildPlan plan, std::chrono::milliseconds limit, int hangup_fd,
                 std::size_t max_output) {
  using Clock = std::chrono::steady_clock;
  plan.own_group = true;
  plan.piped_stdin = false;
  plan.death_signal = SIGKILL;
  Child child = start_child(plan);
  Captured result;
  const auto deadline = Clock::now() + limit;
  while (child.stdout_pipe || child.stderr_pipe) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    std::array<pollfd, 3> polled{{{child.stdout_pipe.get(), POLLIN, 0},
                                  {child.stderr_pipe.get(), POLLIN, 0},
                                  {hangup_fd, POLLRDHUP, 0}}};
    const int ready =
        left.count() <= 0 ? 0 : poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || polled[2].revents != 0) {
      result.timed_out = true;
      break;
    }
    if (polled[0].revents != 0 && !drain(polled[0].fd, result.out, max_output)) {
      child.stdout_pipe.reset();
    }
    if (polled[1].revents != 0 && !drain(polled[1].fd, result.err, max_output)) {
      child.stderr_pipe.reset();
    }
  }
  // A child that closed its output is done, and any other has used up its time. The group is killed
  // before the process is reaped, while its number cannot belong to another process.
  const auto grace = result.timed_out ? Clock::now() : deadline;
  siginfo_t info{};
  const auto running = [&] {
    info.si_pid = 0;
    waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
  };
  while (running() && Clock::now() < grace) poll(nullptr, 0, 5);
  result.timed_out = result.timed_out || running();
  kill(-child.pid, SIGKILL);
  int wait_status = 0;
  while (waitpid(child.pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  result.status = shell_status(wait_status);
  return result;
}

}  // namespace isthmus::daemon
