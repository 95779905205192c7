#include "daemon/launch/process_tree.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

struct Line {
  pid_t parent = 0;
  char state = '?';
  int wait_status = 0;  // once it has ended
};

// "PID (NAME) STATE PPID ..."; NAME may hold anything, so the last ")" ends it.
Line read_stat(const fs::path& folder) {
  std::ifstream file(folder / "stat");
  std::string text;
  std::getline(file, text, '\0');
  Line line;
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos || close + 4 >= text.size()) return line;
  line.state = text[close + 2];
  line.parent = static_cast<pid_t>(std::strtol(text.c_str() + close + 4, nullptr, 10));
  line.wait_status =
      static_cast<int>(std::strtol(text.c_str() + text.rfind(' '), nullptr, 10));  // the last field
  return line;
}

// Calls each(pid, folder) for all processes that there are.
template <class Each>
void for_processes(Each each) {
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    each(static_cast<pid_t>(std::stol(name)), at->path());
  }
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::set<pid_t> ended;
  for_processes([&](pid_t pid, const fs::path& folder) {
    const Line line = read_stat(folder);
    children.emplace(line.parent, pid);
    if (line.state == 'Z' || line.state == 'X') ended.insert(pid);
  });
  std::vector<pid_t> found;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    const auto [first, last] = children.equal_range(parent);
    for (auto at = first; at != last; ++at) {
      open.push_back(at->second);
      if (!ended.contains(at->second)) found.push_back(at->second);
    }
  }
  return found;
}

std::vector<pid_t> children(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code error;
  bool kept = false;
  const fs::path tasks = fs::path("/proc") / std::to_string(pid) / "task";
  for (fs::directory_iterator at(tasks, error), end; !error && at != end; at.increment(error)) {
    std::ifstream file(at->path() / "children");  // of this thread
    kept = kept || file;
    for (pid_t child = 0; file >> child;) found.push_back(child);
  }
  if (kept) return found;
  for (const pid_t other : descendants(pid)) {
    if (read_stat(fs::path("/proc") / std::to_string(other)).parent == pid) found.push_back(other);
  }
  return found;
}

std::optional<FailedChild> failed_child(pid_t pid) {
  std::optional<FailedChild> found;
  for_processes([&](pid_t child, const fs::path& folder) {
    const Line line = read_stat(folder);
    if (line.parent == pid && line.state == 'Z' && line.wait_status != 0) {
      found = FailedChild{name_of(child), line.wait_status};
    }
  });
  return found;
}

std::string name_of(pid_t pid) {
  std::string name;
  std::ifstream file(fs::path("/proc") / std::to_string(pid) / "comm");
  std::getline(file, name);
  return name;
}

std::vector<pid_t> named(const std::string& name) {
  std::vector<pid_t> found;
  for_processes([&](pid_t pid, const fs::path&) {
    if (name_of(pid) == name) found.push_back(pid);
  });
  return found;
}

std::size_t signal_descendants(pid_t root, int number, const std::function<bool(pid_t)>& whom) {
  std::set<pid_t> signalled;
  for (int round = 0; round < 4; ++round) {
    bool fresh = false;
    for (const pid_t pid : descendants(root)) {
      if (!signalled.insert(pid).second) continue;
      fresh = true;
      if (whom(pid)) kill(pid, number);
    }
    if (!fresh) break;
  }
  return signalled.size();
}

std::size_t signal_descendants(pid_t root, int number) {
  return signal_descendants(root, number, [](pid_t) { return true; });
}

}  // namespace isthmus::daemon
