#include "daemon/launch/find_launcher.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "daemon/host/failure.hpp"
#include "daemon/launch/child.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The standard ABI's programs may be anybody's.
bool fits(LauncherKind kind, const std::string& abi) {
  const std::string_view own = row_of(kind).abi;
  return own.empty() || own == abi || (abi != "ompi" && abi != "mpich");
}

std::string first_line(const std::string& text) {
  if (text.empty()) return "it said nothing.";
  return "\"" + text.substr(0, text.find('\n')) + "\".";
}

Launcher examine(const std::string& path, const Site& site) {
  ChildPlan plan;
  plan.argv = {path, "--version"};
  plan.environment = site.environment;
  const Captured said = capture(std::move(plan), std::chrono::seconds(10), site.hangup_fd);
  if (said.timed_out) {
    throw Failure(fmt::format("'{} --version' did not end within 10 s on {}", path, site.host));
  }
  try {
    return {launcher_kind(said.out + said.err, path), path};
  } catch (const Failure&) {
    if (said.status == 0) throw;
  }
  throw Failure(fmt::format("'{} --version' failed on {}: {}", path, site.host,
                            first_line(said.err.empty() ? said.out : said.err)),
                "Is it set up there (srun needs a slurm.conf)? The cluster's launch key can name "
                "another launcher.");
}

/// The first of these, of which there is one, that says what it is; throws what is wrong with the
/// first where none does. Wheels of Intel MPI hold an mpirun that wants I_MPI_ROOT beside an
/// mpiexec that does not (2026-11).
Launcher examine_any(const Words& paths, const Site& site) {
  std::optional<Failure> wrong;
  for (const std::string& path : paths) {
    try {
      return examine(path, site);
    } catch (const Failure& failure) {
      if (!wrong) wrong = failure;
    }
  }
  throw Failure(*wrong);
}

// Debian keeps several MPIs side by side by suffix.
Words names_for(const std::string& abi, const std::string& name) {
  Words names;
  const auto add = [&](const std::string& base) {
    if (abi == "ompi") names.push_back(base + ".openmpi");
    if (!abi.empty() && abi != "ompi") names.push_back(base + ".mpich");
    names.push_back(base);
  };
  if (!name.empty()) {
    add(name);
  } else {
    add("mpirun");
    add("mpiexec");
  }
  return names;
}

std::optional<std::string> on_path(const std::string& name, const Site& site) {
  try {
    return find_program(name, site);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace

LauncherKind launcher_kind(const std::string& text, const std::string& path) {
  if (const LauncherRow* const row = launcher_that_says(text)) return row->kind;
  throw Failure(fmt::format("'{}' is not a launcher that Isthmus knows: its --version says '{}'",
                            path, text.substr(0, text.find('\n'))),
                "Name another with the cluster's launch key, or write a template: "
                "launch = \"LAUNCHER -n {n} {command}\".");
}

MpiChoice read_mpi_choice(const std::string& text, const Site& site) {
  MpiChoice choice;
  if (text.empty()) return choice;
  if (text == "openmpi" || text == "mpich") {
    choice.abi = text == "openmpi" ? "ompi" : "mpich";
    return choice;
  }
  const std::string path = with_home(text, site.environment);
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    choice.library = identify_mpi_library(fs::canonical(path).string());
    choice.prefix = prefix_of_library(path);
    choice.abi = choice.library->abi;
  } else if (path.starts_with('/')) {
    choice.prefix = path;
  } else {
    throw Failure(
        fmt::format("the MPI '{}' that --mpi or the mpi key of a cluster names is neither a "
                    "path nor a family of MPIs",
                    text),
        "Give the folder in which that MPI is installed, 'openmpi' or 'mpich'.");
  }
  return choice;
}

namespace {

Failure no_such_launcher(const std::string& name, const Site& site) {
  return Failure(fmt::format("the launcher '{}' is not found on {}", name, site.host),
                 "Correct the cluster's launch key, or remove it.");
}

Launcher find_named(const LaunchChoice& choice, const std::optional<MpiLibrary>& library,
                    const Site& site) {
  const std::string abi = library ? library->abi : choice.mpi.abi;
  if (library && !choice.mpi.abi.empty() && choice.mpi.abi != abi && abi != "mpiabi") {
    throw Failure(
        fmt::format("the program is linked with '{}', which is not the MPI that --mpi or the "
                    "mpi key of cluster {} names",
                    library->path, site.cluster),
        "Leave out that choice, or name the MPI of the program.");
  }
  const auto checked = [&](const Words& paths) {
    Launcher launcher = examine_any(paths, site);
    if (!fits(launcher.kind, abi)) {
      throw Failure(
          fmt::format("the launcher '{}' on {} is {}'s, but {}", launcher.path, site.host,
                      row_of(launcher.kind).family,
                      library ? fmt::format("the program is linked with '{}'", library->path)
                              : "another MPI is asked for"),
          "Set the cluster's mpi key to the prefix of the program's MPI, or launch to "
          "its launcher.");
    }
    return launcher;
  };
  if (choice.launch.find('/') != std::string::npos) {
    try {
      return checked({find_program(choice.launch, site)});
    } catch (const NoSuchProgram&) {
      throw no_such_launcher(choice.launch, site);
    }
  }
  std::string tried;
  const auto in_prefix = [&](const std::string& prefix) {
    Words paths;
    if (prefix.empty()) return paths;
    for (const std::string& name : names_for(abi, choice.launch)) {
      std::string path = prefix + "/bin/" + name;
      if (on_path(path, site)) paths.push_back(std::move(path));
    }
    if (paths.empty()) tried += (tried.empty() ? "" : ", ") + prefix + "/bin";
    return paths;
  };
  if (!choice.mpi.prefix.empty()) {
    const Words paths = in_prefix(choice.mpi.prefix);
    if (!paths.empty()) return checked(paths);
  } else if (library) {
    const Words paths = in_prefix(prefix_of_library(library->path));
    if (!paths.empty()) {
      // /usr/bin/mpirun may be another MPI's; a better fit may still be on PATH.
      Launcher launcher = examine_any(paths, site);
      if (fits(launcher.kind, abi)) return launcher;
    }
  }
  // A prefix alone asks for that MPI's own launcher; a name (srun) may belong to no MPI.
  if (choice.mpi.prefix.empty() || !choice.launch.empty()) {
    for (const std::string& name : names_for(abi, choice.launch)) {
      if (const auto path = on_path(name, site)) return checked({*path});
    }
    tried += tried.empty() ? "PATH" : " and PATH";
  }
  throw Failure(
      fmt::format("the native launcher ({}){} is not found on {}; looked in {}",
                  choice.launch.empty() ? "mpirun, mpiexec" : choice.launch,
                  library ? fmt::format(" for '{}'", library->path) : "", site.host, tried),
      "Set the cluster's mpi key to the prefix of its MPI, or launch to its launcher.");
}

bool is_template(const std::string& launch) {
  return launch.find("{command}") != std::string::npos || launch.find("{n}") != std::string::npos;
}

void check_program_of(const std::string& launch, const Site& site) {
  const Words words = split_words(launch);
  if (words.empty() || words.front().find('{') != std::string::npos) return;
  try {
    find_program(words.front(), site);
  } catch (const NoSuchProgram&) {
    throw no_such_launcher(words.front(), site);
  }
}

}  // namespace

Launcher find_launcher(const LaunchChoice& choice, const std::optional<MpiLibrary>& library,
                       const Site& site) {
  if (is_template(choice.launch)) {
    check_program_of(choice.launch, site);
    return {LauncherKind::Template, choice.launch};
  }
  const Words words = split_words(choice.launch);
  if (words.size() < 2) return find_named(choice, library, site);
  Launcher launcher = find_named({choice.mpi, words.front()}, library, site);
  launcher.options.assign(words.begin() + 1, words.end());
  return launcher;
}

std::optional<MpiLibrary> library_of_launcher(const Launcher& launcher, const MpiChoice& mpi) {
  if (mpi.library) return mpi.library;
  const std::string own = row_of(launcher.kind).abi;
  if (own.empty() && mpi.prefix.empty()) return std::nullopt;
  const std::string abi = own.empty() ? mpi.abi : own;
  const std::string where = mpi.prefix.empty()
                                ? fs::path(launcher.path).parent_path().parent_path().string()
                                : mpi.prefix;
  const std::string path = library_in_prefix(where, abi);
  if (path.empty()) return std::nullopt;
  return identify_mpi_library(path);
}

}  // namespace isthmus::daemon
