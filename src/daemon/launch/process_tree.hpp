// All that descends from a process, as the kernel sees it now.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace isthmus::daemon {

/// Pids of the children of `root`, their children, and so on; not `root` itself, nor processes
/// that have ended and only wait to be reaped.
std::vector<pid_t> descendants(pid_t root);

/// Pids of the children of `pid`. Reads what the kernel keeps for each process where it does, and
/// not the whole of /proc.
std::vector<pid_t> children(pid_t pid);

struct FailedChild {
  std::string name;  // of its executable, 15 characters at most
  int wait_status = 0;
};

/// A child of `pid` that has ended with another status than 0, and that nobody has waited for yet.
std::optional<FailedChild> failed_child(pid_t pid);

/// The name of the executable of `pid` (15 characters at most); empty if it is gone.
std::string name_of(pid_t pid);

/// Pids of all processes of this host whose executable's name is `name` (15 characters at most).
std::vector<pid_t> named(const std::string& name);

/// Sends `number` to each of descendants(root), again while new ones appear (a bounded number of
/// times), and says how many there were.
std::size_t signal_descendants(pid_t root, int number);
/// The same, with a signal for those of which `whom` is true; all are counted.
std::size_t signal_descendants(pid_t root, int number, const std::function<bool(pid_t)>& whom);

}  // namespace isthmus::daemon
