#include "daemon/launch/spawn_plan.hpp"

#include <unistd.h>

#include <filesystem>

#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/argv_file.hpp"
#include "daemon/launch/elevation.hpp"
#include "daemon/launch/launcher.hpp"
#include "daemon/launch/rank_environment.hpp"
#include "daemon/launch/slurm.hpp"

namespace isthmus::daemon {

namespace {

namespace fs = std::filesystem;

bool fits_preload(const std::string& path) { return path.find_first_of(" :") == std::string::npos; }

// LD_PRELOAD is split at blanks and colons, so a stub below such a folder gets another name.
std::string preloadable(const std::string& stub, bool here, const std::string& private_folder) {
  if (fits_preload(stub)) return stub;
  const fs::path link = fs::path(private_folder) / fs::path(stub).filename();
  if (!here || !fits_preload(link.string())) {
    throw Failure("Isthmus is installed below a folder with a blank or a colon in its name on " +
                      host_name() + " ('" + stub +
                      "'), at which LD_PRELOAD is split, so it cannot be preloaded",
                  here ? "Install it elsewhere, or name a folder without them in XDG_RUNTIME_DIR."
                       : "Install it elsewhere, since ranks run on other hosts, too.");
  }
  std::error_code error;
  fs::create_symlink(stub, link, error);
  if (error && error != std::errc::file_exists) {  // an earlier spawn of this job has made it
    throw Failure(
        "'" + link.string() + "' cannot be made on " + host_name() + ": " + error.message(),
        "Check whether that file system is full.");
  }
  return link.string();
}

}  // namespace

SpawnPlanner::SpawnPlanner(ConfigureRequest configure, std::string self, int hangup_fd)
    : configure_(std::move(configure)),
      self_(std::move(self)),
      libdir_(find_libdir()),
      alone_(configure_.settings.value("alone", nlohmann::json(false)) == true) {
  site_.host = host_name();
  site_.cluster = configure_.cluster;
  site_.directory = configure_.wdir;
  site_.environment = Environment::inherited();
  for (const auto& [name, value] : configure_.env) site_.environment.set(name, value);
  site_.hangup_fd = hangup_fd;
  std::error_code error;
  if (!site_.directory.empty() && !std::filesystem::is_directory(site_.directory, error)) {
    throw Failure("the working directory '" + site_.directory + "' does not exist on " +
                      site_.host + " (cluster " + site_.cluster + ")",
                  "Create it there, or name another by --wdir.");
  }
}

Program SpawnPlanner::find_out(const std::vector<std::string>& argv) const {
  try {
    return inspect_program(argv, site_);
  } catch (const Unwearable&) {
    if (!alone_) throw;
    return {find_program(argv.front(), site_), std::nullopt};
  }
}

// Launchers of no MPI: that of a family is found beside its own mpirun.
std::optional<MpiLibrary> SpawnPlanner::library_asked_for(const Launcher& launcher,
                                                          const MpiChoice& mpi) const {
  const bool of_no_mpi = *row_of(launcher.kind).abi == 0;
  if (!of_no_mpi || mpi.abi.empty() || !mpi.prefix.empty()) {
    return library_of_launcher(launcher, mpi);
  }
  return library_of_launcher(find_launcher({mpi, ""}, std::nullopt, site_), mpi);
}

Inspection SpawnPlanner::find_all(const std::vector<std::string>& argv,
                                  const std::string& mpi) const {
  const MpiChoice choice = read_mpi_choice(mpi, site_);
  Inspection result;
  result.program = find_out(argv);
  result.launcher = find_launcher({choice, configure_.launch}, result.program.library, site_);
  // A script may start MPI programs that it does not name. They get the stub of the MPI that is
  // asked for, or else that of the launcher's.
  const auto library =
      result.program.library ? result.program.library : library_asked_for(result.launcher, choice);
  if (result.launcher.kind == LauncherKind::Srun && library) {
    result.launcher.pmi = find_pmi(result.launcher, *library, site_);
  }
  if (!alone_) {
    if (const auto why = why_not_in_grid(result.program.path, site_)) throw *why;
  }
  if (library) {
    result.stub = alone_ ? find_psets(*library, libdir_) : find_stub(*library, libdir_);
    result.library = library->path;
  }
  return result;
}

const Inspection& SpawnPlanner::inspect(const std::vector<std::string>& argv,
                                        const std::string& mpi) {
  std::vector<std::string> key{mpi.empty() ? configure_.mpi : mpi};
  key.insert(key.end(), argv.begin(), argv.end());
  if (const auto found = inspected_.find(key); found != inspected_.end()) return found->second;
  Inspection result = find_all(argv, key.front());
  return inspected_.emplace(std::move(key), std::move(result)).first->second;
}

bool SpawnPlanner::ranks_are_here(const Launcher& launcher) const {
  return configure_.hosts.empty() && !inside_allocation() &&
         starts_here(launcher, site_.environment);
}

ChildPlan SpawnPlanner::plan(const SpawnRequest& request, const Surroundings& around) {
  const Inspection* chosen = nullptr;
  std::string chosen_name;
  LaunchPlan launch;
  for (const auto& part : request.parts) {
    const Inspection& inspection = inspect(part.argv, part.mpi);
    launch.parts.push_back({part.n, part.argv});
    if (chosen == nullptr || !chosen->program.library) {
      if (chosen == nullptr || inspection.program.library) {
        chosen = &inspection;
        chosen_name = part.argv.front();
      }
    } else if (inspection.program.library &&
               inspection.program.library->path != chosen->program.library->path) {
      throw Failure("in cluster " + configure_.cluster + ", '" + chosen_name + "' is linked with " +
                        chosen->program.library->path + " and '" + part.argv.front() + "' with " +
                        inspection.program.library->path +
                        "; the programs of one cluster share one MPI",
                    "Build both with the same MPI, or put them into different clusters.");
    }
  }
  if (chosen == nullptr) throw Failure("the control message 'spawn' names no program");
  const auto& settings = configure_.settings;
  const int ranks_here = around.shared_host ? around.world_size : request.size;
  // Slurm gives a crowded job one core of each node, and knows its nodes better than this host.
  const bool elsewhere = inside_allocation() || chosen->launcher.kind == LauncherKind::Srun;
  const bool crowded = !elsewhere && ranks_here > usable_cores();
  launch.oversubscribed =
      settings.contains("oversubscribed") ? settings["oversubscribed"] == true : crowded;
  // Native launchers know nothing of each other: both would bind their first rank to core 0.
  launch.bind = settings.contains("bind") ? settings["bind"] == true : !around.shared_host;
  launch.bind_to = settings.value("bind_to", "");
  launch.map_by = settings.value("map_by", "");
  launch.ranks_per_node = settings.value("ranks_per_node", 0);
  // Elsewhere the folder would be made and left.
  const bool here_only = configure_.hosts.empty() && !inside_allocation();
  if (around.shared_host && here_only) launch.session_dir = around.runtime_dir;
  launch.isthmusd = self_;
  launch.hosts = configure_.hosts;
  launch.stdin_to_first = request.has_stdin;

  launch.here = ranks_are_here(chosen->launcher);

  RankSetup setup;
  setup.job = configure_.job;
  setup.cluster = configure_.cluster;
  setup.first = request.first;
  setup.world_size = request.world_size > 0 ? request.world_size : around.world_size;
  setup.base = request.base;
  setup.local_first = request.local_first;
  setup.keep_paths = row_of(chosen->launcher.kind).changes_paths;
  if (!alone_) {
    setup.secret = configure_.secret;
    setup.world = around.world_json;
    setup.libdir = libdir_;
  }
  setup.stub = preloadable(chosen->stub, launch.here, around.runtime_dir);
  setup.library = chosen->library;
  setup.wdir = site_.directory;
  setup.tag_output = request.tag_output;
  setup.by_rank = by_rank(chosen->launcher, launch);
  setup.parts = request.parts;

  ChildPlan child;
  child.environment = site_.environment;
  launch.forwarded = set_rank_environment(setup, child.environment);
  for (const auto& [name, value] : configure_.env) launch.forwarded.push_back(name);
  for (std::size_t part = 0; launch.here && part < launch.parts.size(); ++part) {
    if (!is_long(launch.parts[part].argv)) continue;
    launch.parts[part].argv_file = around.runtime_dir + "/argv" + std::to_string(part);
    write_argv(launch.parts[part].argv_file, launch.parts[part].argv);
  }
  if (request.has_stdin && row_of(chosen->launcher.kind).garbles_stdin) {
    child.stdin_variable = kStdinVariable;
    child.stdin_pipe = around.runtime_dir + "/stdin";
    launch.forwarded.push_back(kStdinVariable);
  }
  prepare_environment(chosen->launcher, launch, geteuid() == 0, child.environment);
  child.argv = launch_command(chosen->launcher, launch);
  if (chosen->launcher.kind == LauncherKind::Template) {
    child.argv.front() = find_program(child.argv.front(), site_);
  } else {
    child.launcher = fs::path(child.argv.front()).filename().string();
  }
  child.directory = site_.directory;
  child.here = launch.here || chosen->launcher.kind == LauncherKind::Template;
  child.piped_stdin = request.has_stdin && child.stdin_variable.empty();
  return child;
}

}  // namespace isthmus::daemon
