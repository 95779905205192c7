#include "daemon/launch/mapped.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "daemon/launch/mpi_library.hpp"

namespace isthmus::daemon {
namespace {

// "libisthmus-ompi-4.1.so" is a stub for "ompi".
constexpr std::string_view kOwn = "libisthmus-";
constexpr std::string_view kFace = "libisthmus-face-";

// The path at the end of "FROM-TO rwxp OFFSET DEVICE INODE      PATH", without what the kernel
// adds.
std::string_view path_of(std::string_view line) {
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return {};
  std::string_view path = line.substr(slash);
  constexpr std::string_view kGone = " (deleted)";
  if (path.ends_with(kGone)) path.remove_suffix(kGone.size());
  return path;
}

}  // namespace

Mapped read_maps(std::istream& maps) {
  Mapped found;
  std::set<std::string, std::less<>> libraries;
  for (std::string line; std::getline(maps, line);) {
    const std::string_view path = path_of(line);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.starts_with(kFace)) {
      found.face = true;
    } else if (name.starts_with(kOwn)) {
      const std::string_view rest = name.substr(kOwn.size());
      const std::string abi(rest.substr(0, rest.find('-')));
      if (std::find(found.stubs.begin(), found.stubs.end(), abi) == found.stubs.end()) {
        found.stubs.push_back(abi);
      }
    } else if (is_mpi_library_name(name)) {
      libraries.emplace(path);
    }
  }
  for (const std::string& library : libraries) {
    const std::string abi = abi_of(library);
    if (std::find(found.stubs.begin(), found.stubs.end(), abi) != found.stubs.end()) {
      found.covered_library = true;
    } else if (found.bare_library.empty()) {
      found.bare_library = library;
    }
  }
  return found;
}

std::optional<Mapped> mapped_in(int pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) return std::nullopt;
  return read_maps(maps);
}

}  // namespace isthmus::daemon
