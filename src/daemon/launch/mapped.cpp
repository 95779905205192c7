#include "daemon/launch/mapped.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "daemon/host/file_descriptor.hpp"
#include "daemon/launch/mpi_library.hpp"

namespace isthmus::daemon {
namespace {

// "libisthmus-ompi-4.1.so" is a stub for "ompi".
constexpr std::string_view kOwn = "libisthmus-";
constexpr std::string_view kFace = "libisthmus-face-";
constexpr std::string_view kJoins = "memfd:isthmus-joins";   // mpi/making/init.cpp
constexpr std::string_view kJoinsByFile = "isthmus-joins-";  // without memfd_create

// Before MPI_Init a library has written to 0 to 16 KiB of its variables, also where tools have
// asked it things (MPI_T). After it: 72 (Open MPI 4.1), 96 (MPICH 4.0), 164 (MPICH 5.0; 2026-11).
constexpr std::uint64_t kBegun = 40 << 10;

/// These bits of a page's word in /proc/PID/pagemap say that it is in memory, or swapped out.
constexpr std::uint64_t kThere = std::uint64_t{3} << 62;

struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
  std::string permissions;
};

std::optional<Mapping> read_line(const std::string& text) {
  Mapping line;
  char dash = 0;
  std::istringstream words(text);
  words >> std::hex >> line.begin >> dash >> line.end >> line.permissions >> line.offset;
  if (!words || dash != '-') return std::nullopt;
  return line;
}

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
  std::uint64_t end_of_library = 0;
  for (std::string text; std::getline(maps, text);) {
    const auto line = read_line(text);
    if (!line) continue;
    const std::string_view path = path_of(text);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const bool mpi = is_mpi_library_name(name);
    if (name == kJoins || name.starts_with(kJoinsByFile)) {
      found.joins = true;
      found.joined = line->permissions[0] == 'r';
    } else if (name.starts_with(kOwn) && !name.starts_with(kFace)) {
      const std::string_view rest = name.substr(kOwn.size());
      const std::string abi(rest.substr(0, rest.find('-')));
      if (std::find(found.stubs.begin(), found.stubs.end(), abi) == found.stubs.end()) {
        found.stubs.push_back(abi);
      }
    } else if (name.starts_with("libc.so.") && line->offset == 0) {
      ++found.c_libraries;
    } else if (mpi) {
      libraries.emplace(path);
    } else if (path.empty() && line->begin == end_of_library && line->permissions[1] == 'w') {
      found.variables.push_back({line->begin, line->end});
    }
    end_of_library = mpi && line->permissions[1] == 'w' ? line->end : 0;
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

bool mpi_has_begun(int pid, const Mapped& mapped) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::string path = "/proc/" + std::to_string(pid) + "/pagemap";
  const FileDescriptor pages(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (const Mapped::Span& span : mapped.variables) {
    std::vector<std::uint64_t> words((span.end - span.begin) / page);
    const std::size_t size = words.size() * sizeof(std::uint64_t);
    const auto at = static_cast<off_t>(span.begin / page * sizeof(std::uint64_t));
    if (pread(pages.get(), words.data(), size, at) != static_cast<ssize_t>(size)) return true;
    const auto there =
        std::count_if(words.begin(), words.end(), [](auto word) { return (word & kThere) != 0; });
    if (static_cast<std::uint64_t>(there) * page >= std::max(kBegun, 3 * page)) return true;
  }
  return mapped.variables.empty();
}

std::optional<Mapped> mapped_in(int pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) return std::nullopt;
  return read_maps(maps);
}

}  // namespace isthmus::daemon
