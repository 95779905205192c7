#include "mpi/making/program_name.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "mpi/native/native.hpp"

namespace isthmus::face {
namespace {

bool is_isthmusd(std::string_view command) {
  return command.substr(command.rfind('/') + 1) == "isthmusd";  // npos + 1 is 0
}

// Longer values and empty ones would be errors.
void set(const char* key, const std::string& value) {
  native.Info_set(MPI_INFO_ENV, key, value.substr(0, MPI_MAX_INFO_VAL - 1).c_str());
}

}  // namespace

void name_the_program() {
  std::array<char, MPI_MAX_INFO_VAL + 1> command{};
  int there = 0;
  native.Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL, command.data(), &there);
  if (there == 0 || !is_isthmusd(command.data())) return;
  std::ifstream file("/proc/self/cmdline");
  std::string words{std::istreambuf_iterator<char>(file), {}};
  if (words.empty()) return;
  words.pop_back();  // each word ends with a zero
  const auto end = std::min(words.find('\0'), words.size());
  if (end == 0) return;
  std::string arguments = words.substr(std::min(end + 1, words.size()));
  std::ranges::replace(arguments, '\0', ' ');
  set("command", words.substr(0, end));
  if (arguments.empty()) {
    native.Info_delete(MPI_INFO_ENV, "argv");
  } else {
    set("argv", arguments);
  }
}

}  // namespace isthmus::face
