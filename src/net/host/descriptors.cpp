#include "net/host/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace isthmus::net {

void reserve_descriptors(int count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto last = std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(count));
  const int any = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (any < 0 || last == 0) return;
  // Tables grow with the highest number, and never shrink.
  const int highest = ::fcntl(any, F_DUPFD_CLOEXEC, static_cast<int>(last) - 1);
  if (highest >= 0) ::close(highest);
  ::close(any);
}

}  // namespace isthmus::net
