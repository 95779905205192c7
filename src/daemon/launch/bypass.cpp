#include "daemon/launch/bypass.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/elevation.hpp"
#include "daemon/launch/elf_file.hpp"
#include "daemon/launch/mapped.hpp"
#include "daemon/launch/native_identity.hpp"
#include "daemon/launch/process_tree.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::string executable(pid_t pid) {
  std::error_code error;
  return fs::read_symlink(folder_of(pid) / "exe", error).string();
}

bool names(const std::string& list, const std::string& entry) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find_first_of(" :", at), list.size());
    if (list.compare(at, end - at, entry) == 0) return true;
    at = end + 1;
  }
  return false;
}

// Compares Isthmus's own variables: a wrapper may have moved a descriptor that the native ones
// name.
bool is_same_rank(const Environment& process, const Environment& rank) {
  for (const char* name : {"ISTHMUS_JOB", "ISTHMUS_RANK"}) {
    if (process.get(name) != rank.get(name)) return false;
  }
  return true;
}

// sudo and su keep neither LD_PRELOAD nor, mostly, what tells a rank.
constexpr const char* kAnotherUser =
    "it runs as another user than Isthmus, and what changed the user (sudo, su) has taken "
    "Isthmus's "
    "variables from its environment. Start `isthmus run` as that user";

bool is_of_another_user(pid_t pid) {
  std::ifstream file(folder_of(pid) / "status");
  uid_t real = 0;
  for (std::string word; file >> word;) {
    if (word == "Uid:") return file >> real && real != getuid();
  }
  return false;
}

std::string why(pid_t pid, const Mapped& mapped, const std::optional<Environment>& process,
                const Environment& rank) {
  if (mapped.bare_library.empty() && !mapped.covered_library) {
    return "it is statically linked with its MPI. Link it dynamically, with the MPI's shared "
           "library";
  }
  if (!mapped.stubs.empty() && mapped.c_libraries > 1) {
    return "it has opened a library that calls MPI with dlmopen, where nothing is preloaded. Open "
           "that library with dlopen";
  }
  if (!mapped.stubs.empty() && mapped.bare_library.empty()) {
    return "its calls of MPI do not come to " + rank.get("ISTHMUS_STUB").value_or("") +
           ", which is loaded. See how the library that calls MPI is opened: it should be opened "
           "with dlopen, by its path";
  }
  if (!mapped.stubs.empty()) {
    return "it has opened " + mapped.bare_library +
           ", another kind of MPI library than it was started for. Start it with the launcher of "
           "that MPI (--mpi, or the cluster's `mpi` key)";
  }
  const std::string stub = rank.get("ISTHMUS_STUB").value_or("");
  if (process && !process->get("ISTHMUS_WORLD")) {
    return "something between `isthmus run` and it has taken Isthmus's variables (LD_PRELOAD, "
           "ISTHMUS_*) from its environment. Have them passed on";
  }
  if (process && !names(process->get("LD_PRELOAD").value_or(""), stub)) {
    return "something between `isthmus run` and it (a script, a container) has changed "
           "LD_PRELOAD. Have " +
           stub + " kept in it";
  }
  const fs::path seen = folder_of(pid) / "root" / fs::path(stub).relative_path();
  if (access(seen.c_str(), R_OK) != 0) {
    return "it does not see " + stub +
           ", which LD_PRELOAD names (is it in a container?). Bind that folder into the container";
  }
  return "its dynamic linker has not loaded " + stub +
         ", which LD_PRELOAD names. See whether the program runs with other rights (set-user-ID) "
         "or another C library";
}

}  // namespace

bool RankView::is_rank(const Environment& process) const {
  return is_of_rank(process, environment_) ||
         (in_container_ && is_same_rank(process, environment_));
}

// Linked to libmpi.a. Programs that bring a serial stand-in for MPI have only its outer functions.
bool RankView::has_mpi_inside(pid_t pid) {
  const std::string path = (folder_of(pid) / "exe").string();
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return false;
  const auto [at, fresh] = inside_.emplace(std::pair(about.st_dev, about.st_ino), false);
  if (!fresh) return at->second;
  const auto elf = ElfFile::open(path);
  at->second = elf && (elf->has_symbols()
                           ? elf->contains("MPI_Init") &&
                                 (elf->contains("ompi_mpi_init") || elf->contains("MPIR_Process"))
                           : elf->interpreter().empty() && elf->holds("MPI_COMM_WORLD"));
  return at->second;
}

// A process that runs as another user, or with more rights than its user, hides its memory and its
// executable. It shows its command line. In a container that names another file.
void RankView::look_from_outside(pid_t pid, Sighting& found) const {
  std::ifstream file(folder_of(pid) / "cmdline");
  std::string name;
  if (found.bypass != 0 || in_container_) return;
  if (!std::getline(file, name, '\0') || name.empty()) return;
  Site site;
  site.host = host_name();
  site.environment = environment_;
  if (name.front() != '/') site.directory = environment_.get("PWD").value_or("");
  try {
    const std::string path = find_program(name, site);
    const auto why = why_not_in_grid(path, site);
    if (!why && (!is_of_another_user(pid) || !library_of_program(path, site))) return;
    found.bypass = pid;
    found.program = path;
    found.reason = why ? std::string(why->what()) + ". " + why->remedy() : kAnotherUser;
  } catch (const Failure&) {
    return;  // it is not what started there, or something else is wrong with it
  }
}

void RankView::look(pid_t pid, Sighting& found) {
  in_container_ = in_container_ || fs::path(executable(pid)).filename() == "podman";
  const auto mapped = mapped_in(pid);
  if (!mapped) look_from_outside(pid, found);
  if (mapped && mapped->joins) {
    found.through = pid;
    found.joined = mapped->joined;
  }
  if (mapped && !mapped->joins) {
    const auto process = Environment::of_process(pid);
    const bool has_library = !mapped->bare_library.empty() || mapped->covered_library;
    const bool suspect = has_library ? mpi_has_begun(pid, *mapped) : has_mpi_inside(pid);
    if (suspect && found.bypass == 0) {
      const bool other = is_of_another_user(pid) && !in_container_;
      if (pid == rank_ || other || (process && is_rank(*process))) {
        found.bypass = pid;
        found.program = executable(pid);
        found.reason = other ? kAnotherUser : why(pid, *mapped, process, environment_);
      }
    }
    // This MPI program hides its environment from its children, so they are not ranks.
    if (mapped->covered_library && process && !process->get("ISTHMUS_WORLD")) return;
  }
  for (const pid_t child : children(pid)) {
    if (found.through == 0) look(child, found);
  }
}

// Podman's containers descend from a monitor that has left its parent and its environment.
void RankView::look_into_containers(Sighting& found) {
  for (const pid_t monitor : named("conmon")) {
    for (const pid_t pid : children(monitor)) {
      const auto process = Environment::of_process(pid);
      if (found.through == 0 && process && is_same_rank(*process, environment_)) look(pid, found);
    }
  }
}

Sighting RankView::look() {
  Sighting found;
  look(rank_, found);
  if (in_container_ && found.through == 0) look_into_containers(found);
  return found;
}

}  // namespace isthmus::daemon
