#include "daemon/launch/ranks_here.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

#include "daemon/launch/process_tree.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::size_t kMostProgram = 120;

std::string text_of(pid_t pid, const char* file) {
  std::ifstream in("/proc/" + std::to_string(pid) + '/' + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Reads the variables that `isthmusd exec` has set. `isthmusd exec` itself is not a rank, since it
// sets them as it becomes the program.
std::optional<int> rank_of(pid_t pid) {
  const std::string environment = '\0' + text_of(pid, "environ");
  const std::string name = std::string(1, '\0') + "ISTHMUS_RANK=";
  const auto found = environment.find(name);
  if (found == std::string::npos) return std::nullopt;
  int rank = -1;
  const char* const first = environment.data() + found + name.size();
  const auto [end, error] = std::from_chars(first, environment.data() + environment.size(), rank);
  if (error != std::errc() || end == first) return std::nullopt;
  return rank;
}

std::string words_of(pid_t pid) {
  std::string words = text_of(pid, "cmdline").substr(0, kMostProgram);
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return words;
}

void collect(pid_t parent, std::vector<RankHere>& found) {
  for (const pid_t pid : children(parent)) {
    if (const auto rank = rank_of(pid)) {
      found.push_back({*rank, pid, words_of(pid)});
    } else {
      collect(pid, found);
    }
  }
}

}  // namespace

std::vector<RankHere> ranks_here() {
  std::vector<RankHere> found;
  collect(getpid(), found);
  return found;
}

}  // namespace isthmus::daemon
