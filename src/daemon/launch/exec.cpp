#include "daemon/launch/exec.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/any_json.hpp"
#include "core/world/world.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/argv_file.hpp"
#include "daemon/launch/elevation.hpp"
#include "daemon/launch/input_feed.hpp"
#include "daemon/launch/named_pipe.hpp"
#include "daemon/launch/native_identity.hpp"
#include "daemon/launch/pointers.hpp"
#include "daemon/launch/process_tree.hpp"
#include "daemon/launch/program.hpp"
#include "daemon/launch/rank_environment.hpp"
#include "daemon/launch/rank_output.hpp"
#include "daemon/launch/rank_watch.hpp"
#include "daemon/launch/tagged_output.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

std::optional<int> number(const Environment& environment, const char* name) {
  const auto text = environment.get(name);
  if (!text || text->empty() || text->size() > 9 ||
      text->find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoi(*text);
}

std::optional<int> first_number(const Environment& environment,
                                std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto found = number(environment, name)) return found;
  }
  return std::nullopt;
}

// An outer batch job may have set SLURM_PROCID for its script: the launchers' own come first.
std::optional<int> told_rank(const Environment& environment) {
  return first_number(environment,
                      {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
}

// Among the ranks of this cluster on this host.
std::optional<int> told_local_rank(const Environment& environment) {
  return first_number(environment,
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
}

// If Open MPI's mpirun (4.1 and 5.0) is started by its absolute path, it puts its own folders first
// on PATH and LD_LIBRARY_PATH of the ranks. A virtual environment's python3 is then no longer
// found.
void give_back_paths(Environment& environment) {
  for (const std::string name : {"PATH", "LD_LIBRARY_PATH"}) {
    const auto kept = environment.get(kKeptPrefix + name);
    if (!kept) continue;
    environment.unset(kKeptPrefix + name);
    if (kept->empty()) {
      environment.unset(name);
    } else {
      environment.set(name, *kept);
    }
  }
}

// The world rank of a native rank. If the world cannot be read, MPI_Init reports that.
int world_rank(const Environment& environment, int native) {
  const int node = number(environment, "ISTHMUS_FIRST").value_or(0) + native;
  const auto text = environment.get("ISTHMUS_WORLD");
  if (!text) return node;
  try {
    return core::world_from_json(*text).rank_of(static_cast<core::NodeId>(node));
  } catch (const std::invalid_argument&) {
    return node;
  }
}

// Sets the variables that scripts use to name files and to choose devices.
void tell_rank(Environment& environment) {
  const int base = number(environment, "ISTHMUS_BASE").value_or(0);
  const int local_first = number(environment, "ISTHMUS_LOCAL_FIRST").value_or(0);
  if (const auto rank = told_rank(environment)) {
    environment.set("ISTHMUS_RANK", std::to_string(world_rank(environment, *rank) - base));
  }
  if (const auto rank = told_local_rank(environment)) {
    environment.set("ISTHMUS_LOCAL_RANK", std::to_string(local_first + *rank));
  }
}

std::string self() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

void apply_part(const ExecOptions& options, RankPlan& plan) {
  const auto text = plan.environment.get("ISTHMUS_PARTS");
  if (!text) {
    if (options.by_rank) throw Failure("ISTHMUS_PARTS is not set; isthmusd agent sets it");
    plan.environment.set("ISTHMUS_APPNUM", "0");
    return;
  }
  const json parts = core::parse_any(*text);
  auto index = static_cast<std::size_t>(options.part);
  if (options.by_rank) {
    int rank = native_rank(plan.environment);
    for (index = 0; index < parts.size() && rank >= parts[index].at("n"); ++index) {
      rank -= parts[index].at("n").get<int>();
    }
  }
  if (index >= parts.size()) {
    throw Failure("the native launcher started more ranks than ISTHMUS_PARTS has");
  }
  if (options.by_rank) plan.argv = parts[index].at("argv").get<std::vector<std::string>>();
  plan.environment.set("ISTHMUS_APPNUM", std::to_string(parts[index].value("appnum", 0)));
  for (const auto& [name, value] :
       parts[index].at("env").get<std::map<std::string, std::string>>()) {
    plan.environment.set(name, value);
  }
}

// Open MPI's launcher names isthmusd in the variables that become MPI_INFO_ENV. No value of an info
// object may be empty or longer.
void name_the_program(RankPlan& plan) {
  constexpr std::size_t kMost = 255;
  if (!plan.environment.get("OMPI_COMMAND")) return;
  plan.environment.set("OMPI_COMMAND", plan.argv.front().substr(0, kMost));
  const auto arguments = fmt::format("{}", fmt::join(plan.argv.begin() + 1, plan.argv.end(), " "));
  plan.environment.unset("OMPI_ARGV");
  if (!arguments.empty()) plan.environment.set("OMPI_ARGV", arguments.substr(0, kMost));
}

// Hydra (MPICH 4.0 and 5.0, 2026-11) waits on if its part on a host is killed, and leaves the ranks
// there running. Other launchers end them. Only Hydra starts its ranks from a thread that lives as
// long as its process, which this signal takes for the same.
void end_with_hydra() {
  const pid_t parent = getppid();
  if (name_of(parent) != "hydra_pmi_proxy") return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL);
}

int complain(const std::string& sentence, int status) {
  std::cerr << "isthmus: " << sentence << std::endl;
  return status;
}

void watch(const Environment& environment) {
  const auto first = number(environment, "ISTHMUS_FIRST");
  const auto rank = told_rank(environment);
  if (!first || !rank) return;  // without these it has no name in reports
  start_rank_watch(getpid(), *first + *rank, environment);
}

// Standard input comes to native rank 0 past a launcher that cannot carry much of it.
void open_stdin(RankPlan& plan) {
  const auto name = plan.environment.get(kStdinVariable);
  if (!name) return;
  plan.environment.unset(kStdinVariable);
  if (told_rank(plan.environment) != 0) return;
  FileDescriptor opened;
  if (const auto address = InputAddress::parse(*name)) {
    try {
      opened = fetch_input(*address, getpid());
    } catch (const Failure& failure) {
      std::cerr << "isthmus: " << failure.what() << ". " << failure.remedy() << std::endl;
      opened.reset(open("/dev/null", O_WRONLY | O_CLOEXEC));  // an error is not the end
    }
  } else {
    opened = open_by_name(*name);
  }
  dup2(opened.get(), STDIN_FILENO);
}

// Only returns when it failed.
int become(const RankPlan& plan, const std::string& path) {
  watch(plan.environment);
  const std::vector<std::string> environment = plan.environment.strings();
  execve(path.c_str(), pointers(plan.argv).data(), pointers(environment).data());
  if (errno == ENOEXEC) {  // a script without "#!": POSIX has the shell run it
    std::vector<std::string> argv{"/bin/sh", path};
    argv.insert(argv.end(), plan.argv.begin() + 1, plan.argv.end());
    execve(argv[0].c_str(), pointers(argv).data(), pointers(environment).data());
  }
  const int error = errno;
  return complain(
      fmt::format("'{}' cannot be run on {}: {}", path, host_name(), std::strerror(error)),
      error == ENOENT ? 127 : 126);
}

void redirect_output(const RankPlan& plan, const RankIdentity& who) {
  if (!plan.output_file.empty()) {
    redirect(1, file_name(plan.output_file, who), who);
    if (plan.error_file.empty()) dup2(1, 2);
  }
  if (!plan.error_file.empty()) redirect(2, file_name(plan.error_file, who), who);
}

}  // namespace

int native_rank(const Environment& environment) {
  if (const auto rank = told_rank(environment)) return *rank;
  throw Failure(
      "the native launcher gives no rank: none of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK and "
      "SLURM_PROCID is set",
      "Use an MPI launcher, or one that sets PMI_RANK.");
}

RankPlan plan_rank(const ExecOptions& options, const Environment& environment) {
  RankPlan plan;
  plan.argv = options.argv_file.empty() ? options.argv : read_argv_file(options.argv_file);
  plan.environment = environment;
  give_back_paths(plan.environment);
  tell_rank(plan.environment);
  apply_part(options, plan);
  if (plan.argv.empty()) throw Failure("isthmusd exec was given no program");
  name_the_program(plan);
  plan.directory = plan.environment.get("ISTHMUS_WDIR").value_or("");
  plan.tag_output = plan.environment.get("ISTHMUS_TAG_OUTPUT").has_value();
  plan.output_file = plan.environment.get("ISTHMUS_OUTPUT").value_or("");
  plan.error_file = plan.environment.get("ISTHMUS_ERROR").value_or("");
  plan.show_rank = plan.environment.get("ISTHMUS_SHOW_RANK").has_value();
  if (plan.tag_output || plan.show_rank || !plan.output_file.empty() || !plan.error_file.empty()) {
    plan.world_rank = world_rank(plan.environment, native_rank(plan.environment));
  }
  if (const auto stub = plan.environment.get("ISTHMUS_STUB")) {
    // Behind the user's own, so that tools which wrap MPI_X over PMPI_X find us below them.
    const auto preload = plan.environment.get("LD_PRELOAD").value_or("");
    plan.environment.set("LD_PRELOAD", preload.empty() ? *stub : preload + ":" + *stub);
    plan.environment.set("ISTHMUS_DAEMON", self());
  }
  for (const char* name :
       {"ISTHMUS_PARTS", "ISTHMUS_WDIR", "ISTHMUS_TAG_OUTPUT", "ISTHMUS_OUTPUT", "ISTHMUS_ERROR",
        "ISTHMUS_SHOW_RANK", "ISTHMUS_LOCAL_FIRST", "ISTHMUS_BASE"}) {
    plan.environment.unset(name);
  }
  if (!plan.environment.get("ISTHMUS_WORLD")) {  // no face will read them
    for (const char* name : {"ISTHMUS_FIRST", "ISTHMUS_APPNUM"}) plan.environment.unset(name);
  }
  return plan;
}

int run_exec(const ExecOptions& options) {
  try {
    end_with_hydra();
    RankPlan plan = plan_rank(options, Environment::inherited());
    open_stdin(plan);
    if (plan.environment.get("ISTHMUS_WORLD")) {
      plan.environment.set("ISTHMUS_NATIVE", native_identity(plan.environment));
    }
    if (!plan.directory.empty() && chdir(plan.directory.c_str()) != 0) {
      return complain(fmt::format("the working directory '{}' cannot be entered on {}: {}",
                                  plan.directory, host_name(), std::strerror(errno)),
                      126);
    }
    const Site site{host_name(), plan.environment.get("ISTHMUS_CLUSTER").value_or(""), "",
                    plan.environment, -1};
    plan.argv.front() = with_home(plan.argv.front(), plan.environment);
    const std::string path = find_program(plan.argv.front(), site);
    // The agent has asked, but each host may have a program of its own.
    if (plan.environment.get("ISTHMUS_WORLD")) {
      if (const auto why = why_not_in_grid(path, site)) throw *why;
    }
    const RankIdentity who{plan.world_rank, host_name(),
                           plan.environment.get("ISTHMUS_JOB").value_or("")};
    const FileDescriptor launcher(fcntl(2, F_DUPFD_CLOEXEC, 3));
    redirect_output(plan, who);
    const auto start = [&] {
      if (plan.show_rank) show_rank(launcher.get(), who);
      return become(plan, path);
    };
    if (!plan.tag_output) return start();
    return run_tagged(fmt::format("[{}] ", plan.world_rank), start);
  } catch (const Failure& failure) {
    const std::string sentence = failure.what();
    const bool barred = sentence.find("not executable") != std::string::npos;
    return complain(sentence + (failure.remedy().empty() ? "" : ". " + failure.remedy()),
                    barred ? 126 : 127);
  } catch (const std::exception& error) {
    return complain(std::string("ISTHMUS_PARTS is damaged: ") + error.what(), 127);
  }
}

}  // namespace isthmus::daemon
