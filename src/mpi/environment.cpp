#include "mpi/environment.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/hex.hpp"

namespace isthmus::face {
namespace {

std::string required(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) {
    throw std::runtime_error(std::string(name) +
                             " is not set in the environment of this rank: start the program with "
                             "`isthmus run`, and let nothing between it and the program remove "
                             "variables whose names begin with ISTHMUS_");
  }
  return value;
}

std::string optional(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string take_secret() {
  const std::string hex = required("ISTHMUS_SECRET");
  char* in_place = std::getenv("ISTHMUS_SECRET");
  explicit_bzero(in_place, std::strlen(in_place));
  unsetenv("ISTHMUS_SECRET");
  auto bytes = core::from_hex(hex);
  if (!bytes) {
    throw std::runtime_error("ISTHMUS_SECRET does not hold pairs of hexadecimal digits");
  }
  return *std::move(bytes);
}

// LD_PRELOAD is separated by spaces or colons.
void clean_preload(const std::string& stub) {
  const char* value = std::getenv("LD_PRELOAD");
  if (!value || stub.empty()) return;
  std::string kept;
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" :"), rest.size());
    const std::string_view entry = rest.substr(0, end);
    if (!entry.empty() && entry != stub) kept += (kept.empty() ? "" : ":") + std::string(entry);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (kept.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", kept.c_str(), 1);
  }
}

}  // namespace

bool in_grid() { return std::getenv("ISTHMUS_WORLD") != nullptr; }

Environment read_environment() {
  Environment e;
  e.secret = take_secret();
  e.job = required("ISTHMUS_JOB");
  e.world = required("ISTHMUS_WORLD");
  e.cluster = required("ISTHMUS_CLUSTER");
  e.collectives = optional("ISTHMUS_COLL");
  e.networks = optional("ISTHMUS_NETWORK");
  e.stats = !optional("ISTHMUS_STATS").empty();
  const std::string first = required("ISTHMUS_FIRST");
  const auto parsed = std::from_chars(first.data(), first.data() + first.size(), e.first);
  if (parsed.ec != std::errc() || parsed.ptr != first.data() + first.size() || e.first < 0) {
    throw std::runtime_error("ISTHMUS_FIRST is '" + first + "', not a world rank");
  }
  return e;
}

void clean_environment() {
  const char* stub = std::getenv("ISTHMUS_STUB");
  clean_preload(stub ? stub : "");
  std::vector<std::string> names;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("ISTHMUS_")) continue;
    const std::string name(text.substr(0, text.find('=')));
    if (name != "ISTHMUS_CLUSTER" && name != "ISTHMUS_JOB") names.push_back(name);
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace isthmus::face
