#include "daemon/launch/tidy.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <set>
#include <string>

#include "core/base/tidying.hpp"
#include "daemon/host/beside.hpp"

namespace isthmus::daemon {

void tidy_after(int socket) {
  std::multiset<std::string> paths;
  std::array<char, PATH_MAX + 1> packet{};
  while (true) {
    const ssize_t got = recv(socket, packet.data(), packet.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::string path(packet.data() + 1, static_cast<std::size_t>(got) - 1);
    if (packet[0] == core::kTidyRemove) {
      paths.insert(path);
    } else if (const auto found = paths.find(path); found != paths.end()) {
      paths.erase(found);
    }
  }
  for (const std::string& path : paths) unlink(path.c_str());
}

int run_tidy() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_IGN);
  return start_beside(kTidyName, {dup(0)}, [] { tidy_after(3); }) ? 0 : 1;
}

}  // namespace isthmus::daemon
