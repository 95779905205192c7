#include "mpi/native/environment.hpp"

#include <charconv>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/base/hex.hpp"
#include "mpi/native/face.hpp"

namespace isthmus::face {
namespace {

std::string required(const char* name) {
  const char* value = setting(name);
  if (!value || !*value) {
    throw std::runtime_error(std::string(name) +
                             " is not set in the environment of this rank: start the program with "
                             "`isthmus run`, and let nothing between it and the program remove "
                             "variables whose names begin with ISTHMUS_");
  }
  return value;
}

std::string optional(const char* name) {
  const char* value = setting(name);
  return value ? value : "";
}

core::Secret take_secret() {
  std::string hex = required("ISTHMUS_SECRET");
  char* in_place = setting("ISTHMUS_SECRET");
  explicit_bzero(in_place, std::strlen(in_place));
  auto bytes = core::from_hex(hex);
  core::wipe(hex);
  if (!bytes) {
    throw std::runtime_error("ISTHMUS_SECRET does not hold pairs of hexadecimal digits");
  }
  return *std::move(bytes);
}

std::optional<std::size_t> lend_from(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  if (text == "never") return bytes;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    throw std::runtime_error(
        "ISTHMUS_DEBUG_LEND is '" + text +
        "', neither 'never' nor a number of bytes: give it one of these, or unset it");
  }
  return bytes;
}

int number_of_part = 0;

}  // namespace

const int& appnum() { return number_of_part; }

bool in_grid() { return setting("ISTHMUS_WORLD") != nullptr; }

Environment read_environment() {
  Environment e;
  e.secret = take_secret();
  e.job = required("ISTHMUS_JOB");
  e.world = required("ISTHMUS_WORLD");
  e.cluster = required("ISTHMUS_CLUSTER");
  e.collectives = optional("ISTHMUS_COLL");
  e.networks = optional("ISTHMUS_NETWORK");
  e.algorithms = optional("ISTHMUS_DEBUG_ALGORITHMS");
  e.trace = optional("ISTHMUS_TRACE");
  e.trace_directory = optional("ISTHMUS_TRACE_DIR");
  e.trace_records = optional("ISTHMUS_TRACE_RECORDS");
  e.trace_gathered = !optional("ISTHMUS_TRACE_GATHERED").empty();
  const std::string leg = optional("ISTHMUS_DEBUG_LEG");
  if (!leg.empty() && leg != "memory" && leg != "socket") {
    throw std::runtime_error("ISTHMUS_DEBUG_LEG is '" + leg + "', not 'memory' or 'socket'");
  }
  e.sockets = leg == "socket";
  e.lend_from = lend_from(optional("ISTHMUS_DEBUG_LEND"));
  e.ports = optional("ISTHMUS_PORTS");
  e.stats = !optional("ISTHMUS_STATS").empty();
  e.reorders = !optional("ISTHMUS_REORDER").empty();
  e.reproducible = !optional("ISTHMUS_REPRODUCIBLE").empty();
  e.survives = !optional("ISTHMUS_SURVIVE").empty();
  const std::string first = required("ISTHMUS_FIRST");
  const auto parsed = std::from_chars(first.data(), first.data() + first.size(), e.first);
  if (parsed.ec != std::errc() || parsed.ptr != first.data() + first.size() || e.first < 0) {
    throw std::runtime_error("ISTHMUS_FIRST is '" + first + "', not a world rank");
  }
  const std::string part = optional("ISTHMUS_APPNUM");
  std::from_chars(part.data(), part.data() + part.size(), number_of_part);
  return e;
}

}  // namespace isthmus::face
