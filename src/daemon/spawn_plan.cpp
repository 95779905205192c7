#include "daemon/spawn_plan.hpp"

#include <unistd.h>

#include <filesystem>

#include "daemon/failure.hpp"
#include "daemon/host.hpp"
#include "daemon/launcher.hpp"
#include "daemon/rank_environment.hpp"

namespace isthmus::daemon {

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
    throw Failure("The working directory \"" + site_.directory + "\" does not exist on " +
                      site_.host + " (cluster " + site_.cluster + ").",
                  "Make it there, or name another with --wdir.");
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

const Inspection& SpawnPlanner::inspect(const std::vector<std::string>& argv) {
  if (const auto found = inspected_.find(argv.front()); found != inspected_.end()) {
    return found->second;
  }
  Inspection result;
  result.program = find_out(argv);
  result.launcher =
      find_launcher({configure_.mpi, configure_.launch}, result.program.library, site_);
  if (alone_) return inspected_.emplace(argv.front(), std::move(result)).first->second;
  // A script may well start MPI programs: they get the stub of the launcher's own MPI.
  const auto library = result.program.library
                           ? result.program.library
                           : library_of_launcher(result.launcher, configure_.mpi);
  if (library) {
    result.stub = find_stub(*library, libdir_);
    result.library = library->path;
  }
  return inspected_.emplace(argv.front(), std::move(result)).first->second;
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
    const Inspection& inspection = inspect(part.argv);
    launch.parts.push_back({part.n, part.argv});
    if (chosen == nullptr || !chosen->program.library) {
      if (chosen == nullptr || inspection.program.library) {
        chosen = &inspection;
        chosen_name = part.argv.front();
      }
    } else if (inspection.program.library &&
               inspection.program.library->path != chosen->program.library->path) {
      throw Failure("In cluster " + configure_.cluster + ", \"" + chosen_name +
                        "\" is linked with " + chosen->program.library->path + " and \"" +
                        part.argv.front() + "\" with " + inspection.program.library->path +
                        "; the programs of one cluster share one MPI.",
                    "Build both with the same MPI, or put them into different clusters.");
    }
  }
  if (chosen == nullptr) throw Failure("The control message \"spawn\" names no program.");
  const auto& settings = configure_.settings;
  const int ranks_here = around.shared_host ? around.world_size : request.size;
  const bool crowded = !inside_allocation() && ranks_here > usable_cores();
  launch.oversubscribed =
      settings.contains("oversubscribed") ? settings["oversubscribed"] == true : crowded;
  // Native launchers know nothing of each other: both would bind their first rank to core 0.
  launch.bind = settings.contains("bind") ? settings["bind"] == true : !around.shared_host;
  // Elsewhere the folder would be made and left.
  const bool here_only = configure_.hosts.empty() && !inside_allocation();
  if (around.shared_host && here_only) launch.session_dir = around.runtime_dir;
  launch.isthmusd = self_;
  launch.hosts = configure_.hosts;
  launch.stdin_to_first = request.has_stdin;

  RankSetup setup;
  setup.job = configure_.job;
  setup.cluster = configure_.cluster;
  setup.first = request.first;
  setup.world_size = around.world_size;
  setup.local_first = request.local_first;
  setup.keep_paths = changes_paths(chosen->launcher);
  if (!alone_) {
    setup.secret = configure_.secret;
    setup.world = around.world_json;
    setup.stub = chosen->stub;
    setup.library = chosen->library;
    setup.libdir = libdir_;
  }
  setup.wdir = site_.directory;
  setup.tag_output = request.tag_output;
  setup.by_rank = by_rank(chosen->launcher, launch);
  setup.parts = request.parts;

  ChildPlan child;
  child.environment = site_.environment;
  launch.forwarded = set_rank_environment(setup, child.environment);
  for (const auto& [name, value] : configure_.env) launch.forwarded.push_back(name);
  prepare_environment(chosen->launcher, launch, geteuid() == 0, child.environment);
  child.argv = launch_command(chosen->launcher, launch);
  if (chosen->launcher.kind == LauncherKind::Template) {
    child.argv.front() = find_program(child.argv.front(), site_);
  }
  child.directory = site_.directory;
  child.piped_stdin = request.has_stdin;
  return child;
}

}  // namespace isthmus::daemon
