#include "daemon/host/beside.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>

namespace isthmus::daemon {
namespace {

void let_go(std::vector<int>& keep) {
  const int null = open("/dev/null", O_RDWR);
  if (null >= 0) {
    dup2(null, 0);
    dup2(null, 1);
  }
  const int first_other = 3 + static_cast<int>(keep.size());
  for (int& fd : keep) fd = fcntl(fd, F_DUPFD, first_other);  // out of each other's way
  for (std::size_t i = 0; i < keep.size(); ++i) dup2(keep[i], 3 + static_cast<int>(i));
  if (syscall(SYS_close_range, first_other, ~0U, 0) != 0) {
    for (int fd = first_other; fd < static_cast<int>(sysconf(_SC_OPEN_MAX)); ++fd) close(fd);
  }
  if (chdir("/") != 0) return;  // where it is does not matter
}

}  // namespace

bool start_beside(const char* name, std::vector<int> keep, const std::function<void()>& work) {
  const pid_t between = fork();
  if (between < 0) return false;
  if (between > 0) {
    int status = 0;
    waitpid(between, &status, 0);
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
    return status == 0;
  }
  const pid_t beside = fork();
  if (beside != 0) _exit(beside < 0 ? errno : 0);
  prctl(PR_SET_NAME, name);
  let_go(keep);
  try {
    work();
  } catch (const std::exception& error) {
    std::cerr << "isthmus: " << name << " ends: " << error.what() << std::endl;
  }
  _exit(0);
}

}  // namespace isthmus::daemon
