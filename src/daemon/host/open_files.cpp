#include "daemon/host/open_files.hpp"

#include <sys/resource.h>

namespace isthmus::daemon {
namespace {

rlimit original{};
bool raised = false;

}  // namespace

void raise_open_files() {
  if (raised || ::getrlimit(RLIMIT_NOFILE, &original) != 0) return;
  rlimit most = original;
  most.rlim_cur = most.rlim_max;
  raised = most.rlim_cur != original.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &most) == 0;
}

void restore_open_files() {
  if (raised) ::setrlimit(RLIMIT_NOFILE, &original);
}

}  // namespace isthmus::daemon
