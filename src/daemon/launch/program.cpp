#include "daemon/launch/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/host/failure.hpp"
#include "daemon/launch/child.hpp"
#include "daemon/launch/elf_file.hpp"
#include "daemon/launch/wrapped_program.hpp"

namespace isthmus::daemon {
namespace {

constexpr const char* kSources[] = {".c", ".cc", ".cpp", ".cxx", ".C", ".f", ".f90", ".F90"};

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr int kMaxInterpreters = 4;  // as the kernel bounds scripts that name scripts

std::string place(const Site& site) {
  if (site.cluster.empty()) return site.host;
  return fmt::format("{} (cluster {})", site.host, site.cluster);
}

bool runnable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

ChildPlan plan_at(const Site& site, std::vector<std::string> argv) {
  ChildPlan plan;
  plan.argv = std::move(argv);
  plan.environment = site.environment;
  plan.directory = site.directory;
  return plan;
}

// The words of a script's "#!" line; empty when it has none.
std::vector<std::string> interpreter_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 256> head{};
  file.read(head.data(), head.size());
  const std::string text(head.data(), static_cast<std::size_t>(file.gcount()));
  if (!text.starts_with("#!")) return {};
  std::istringstream line(text.substr(2, text.find('\n') - 2));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

std::optional<MpiLibrary> ask_mpi4py(const std::string& python, const Site& site) {
  static const std::string script =
      "import mpi4py\n"
      "mpi4py.rc.initialize = False\n"
      "from mpi4py import MPI\n"
      "for line in open('/proc/self/maps'):\n"
      "    print('mapped', line.rstrip().split(' ', 5)[-1].strip())\n";
  const Captured said = capture(plan_at(site, {python, "-c", script}), seconds(30), site.hangup_fd);
  if (said.timed_out) {
    throw Failure(fmt::format("'{}' did not import mpi4py within 30 s on {}", python, place(site)),
                  fmt::format("Run it there by hand: {} -c 'import mpi4py.MPI'", python));
  }
  if (said.status != 0) {
    if (said.err.find("No module named 'mpi4py'") != std::string::npos) return std::nullopt;
    const std::size_t last = said.err.find_last_of('\n', said.err.size() - 2) + 1;
    throw Failure(fmt::format("'{}' cannot import mpi4py on {}: {}", python, place(site),
                              said.err.empty() ? "it failed" : said.err.substr(last)),
                  "Repair the mpi4py of that Python (its MPI library may be missing).");
  }
  std::istringstream lines(said.out);
  for (std::string word, path; lines >> word && std::getline(lines >> std::ws, path);) {
    if (word == "mapped" && is_mpi_library_name(fs::path(path).filename().string())) {
      return identify_mpi_library(path);
    }
  }
  return std::nullopt;
}

// Without a symbol table, only the names in the MPI library's messages are left.
bool holds_mpi(const ElfFile& elf) {
  if (!elf.has_symbols()) return elf.holds("MPI_COMM_WORLD");
  return elf.contains("MPI_Init") || elf.contains("PMPI_Init") || elf.contains("mpi_init_");
}

// "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x...)" or "libmpi.so.40 => not found".
std::optional<MpiLibrary> library_in_listing(const std::string& listing, const std::string& path,
                                             const Site& site) {
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, arrow, target;
    if (!(words >> name >> arrow >> target) || arrow != "=>") continue;
    if (!is_mpi_library_name(fs::path(name).filename().string())) continue;
    if (target == "not") {
      throw Failure(fmt::format("the MPI library {} that '{}' is linked with is not found on {}",
                                name, path, place(site)),
                    "Load its module there, or set LD_LIBRARY_PATH in the cluster's env.");
    }
    return identify_mpi_library(target);
  }
  return std::nullopt;
}

std::optional<MpiLibrary> library_of_elf(const std::string& path, const ElfFile& elf,
                                         const Site& site) {
  const auto self = ElfFile::open("/proc/self/exe");
  if (self && (elf.machine() != self->machine() || !elf.native_form())) {
    throw Failure(
        fmt::format("'{}' is built for {}; {} is {}", path, ElfFile::machine_name(elf.machine()),
                    place(site), ElfFile::machine_name(self->machine())),
        "Build the program for this cluster and name it with --on.");
  }
  const std::string loader = elf.interpreter();
  if (loader.empty()) {
    if (holds_mpi(elf)) {
      throw Unwearable(
          fmt::format("'{}' on {} is statically linked; Isthmus needs a program linked dynamically "
                      "to its MPI",
                      path, place(site)),
          "Link it without -static, with the MPI's shared library.");
    }
    return std::nullopt;
  }
  // As ldd does. (The loader's --list stops at a library that is not found.)
  ChildPlan trace = plan_at(site, {loader, path});
  trace.environment.set("LD_TRACE_LOADED_OBJECTS", "1");
  const Captured listed = capture(std::move(trace), seconds(10), site.hangup_fd);
  if (listed.timed_out) {
    throw Failure(
        fmt::format("the libraries of '{}' were not resolved within 10 s on {}", path, place(site)),
        "Check the file systems of its library path.");
  }
  auto library = library_in_listing(listed.out, path, site);
  if (!library && elf.contains("MPI_Init")) {
    throw Unwearable(
        fmt::format("'{}' on {} has its MPI library linked in statically; Isthmus needs a program "
                    "linked dynamically to its MPI",
                    path, place(site)),
        "Link it with the MPI's shared library instead of libmpi.a.");
  }
  return library;
}

}  // namespace

std::string with_home(const std::string& path, const Environment& environment) {
  if (!path.starts_with("~/")) return path;
  return environment.get("HOME").value_or("") + path.substr(1);
}

std::string find_program(const std::string& name, const Site& site) {
  std::error_code error;  // without a working directory, absolute names still lead to programs
  const fs::path base = site.directory.empty() ? fs::current_path(error) : fs::path(site.directory);
  if (name.empty()) throw Failure("the name of the program is empty");
  std::vector<fs::path> candidates;
  if (name.find('/') != std::string::npos) {
    candidates.push_back(base / with_home(name, site.environment));
  } else {
    std::istringstream path(site.environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
    for (std::string folder; std::getline(path, folder, ':');) {
      candidates.push_back(base / (folder.empty() ? "." : folder) / name);
    }
  }
  std::string barred;
  for (const fs::path& candidate : candidates) {
    if (runnable(candidate)) return candidate.lexically_normal().string();
    if (barred.empty() && fs::exists(candidate, error)) barred = candidate.string();
  }
  if (!barred.empty() && fs::is_directory(barred, error)) {
    throw Failure(fmt::format("'{}' on {} is a directory, not a program", barred, place(site)));
  }
  if (!barred.empty()) {
    const std::string kind = fs::path(barred).extension();
    const bool source =
        std::find(std::begin(kSources), std::end(kSources), kind) != std::end(kSources);
    const std::string built = fs::path(barred).stem();
    throw Failure(
        fmt::format("the program '{}' is not executable on {}", barred, place(site)),
        source ? fmt::format("It is source text: compile it, as in mpicc {} -o {}", barred, built)
               : "chmod +x " + barred);
  }
  std::string remedy = "Copy or build it there, or give its path.";
  if (name.find('/') == std::string::npos && fs::exists(base / name, error)) {
    remedy = "PATH does not hold it, but the working directory does: use ./" + name;
  }
  throw NoSuchProgram(fmt::format("the program '{}' is not found on {}", name, place(site)),
                      remedy);
}

bool is_python(const std::string& path) {
  return fs::path(path).filename().string().starts_with("python");
}

std::string executed_file(std::string path, const Site& site) {
  for (int depth = 0; depth < kMaxInterpreters; ++depth) {
    if (is_python(path) || ElfFile::open(path)) return path;
    std::vector<std::string> words = interpreter_line(path);
    if (words.empty()) return path;  // execve's failure will say so, or a shell takes it
    std::size_t at = 0;
    if (fs::path(words.front()).filename() == "env") {
      // env's own options and assignments stand before the name of the program.
      at = 1;
      while (at < words.size() &&
             (words[at].starts_with('-') || words[at].find('=') != std::string::npos)) {
        ++at;
      }
      if (at == words.size()) return path;
    }
    path = find_program(words[at], site);
  }
  return path;
}

std::optional<MpiLibrary> library_of_program(const std::string& path, const Site& site) {
  const std::string file = executed_file(path, site);
  if (is_python(file)) return ask_mpi4py(file, site);
  const auto elf = ElfFile::open(file);
  return elf ? library_of_elf(file, *elf, site) : std::nullopt;
}

Program inspect_program(const std::vector<std::string>& argv, const Site& site) {
  if (argv.empty()) throw Failure("no program is named");
  Program program;
  program.path = find_program(argv.front(), site);
  program.library = library_of_program(program.path, site);
  if (!program.library) program.library = wrapped_library(argv, site);
  return program;
}

std::string library_version(const std::string& library, const std::string& self, const Site& site) {
  const Captured said =
      capture(plan_at(site, {self, "library-version", library}), seconds(10), site.hangup_fd);
  if (said.timed_out || said.status != 0) return {};
  return said.out.substr(0, said.out.find_last_not_of(" \n\r\t\0") + 1);
}

}  // namespace isthmus::daemon
