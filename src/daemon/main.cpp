#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "coll/estimate/estimate.hpp"
#include "core/wire/frame_memory.hpp"
#include "core/wire/wire.hpp"
#include "daemon/agent/agent.hpp"
#include "daemon/agent/examine.hpp"
#include "daemon/host/build.hpp"
#include "daemon/host/open_files.hpp"
#include "daemon/launch/exec.hpp"
#include "daemon/launch/library_version.hpp"
#include "daemon/launch/tidy.hpp"
#include "daemon/service/serve.hpp"
#include "daemon/service/worker.hpp"

namespace {

using namespace isthmus::daemon;

std::string own_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

// A gateway's memory grows with the bytes under way on its links, and shrinks as they arrive.
// Memory that is returned to the system comes back with a page fault for every 4 KiB. So
// two gateways took 2.7 s for each GB, and 2.5 without (2026-11, 10 Gbit/s at 50 ms).
void keep_memory() {
  constexpr int kKept = 64 << 20, kAtATime = 16 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kKept);
  ::mallopt(M_TOP_PAD, kAtATime);
  isthmus::core::keep_frame_memory(kKept);
}

// Secrets live in this process: no core dump shows them, and no other process of this user reads
// them. Sanitizers trace their own process.
void hide_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (std::getenv("ISTHMUS_DEBUG_MEMORY") == nullptr) ::prctl(PR_SET_DUMPABLE, 0);
#endif
}

// The control stream moves away from 0 and 1, so that nothing that reads or prints by accident
// can disturb it.
int serve(bool gateways_only) {
  AgentOptions options;
  options.in = fcntl(0, F_DUPFD_CLOEXEC, 3);
  options.out = fcntl(1, F_DUPFD_CLOEXEC, 3);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (options.in < 0 || options.out < 0 || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0) {
    std::cerr << "isthmusd: standard input, output and error must be open" << std::endl;
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  hide_memory();
  raise_open_files();
  keep_memory();
  options.self = own_path();
  options.gateways_only = gateways_only;
  return run_agent(options);
}

constexpr int kUsage = 2;

// Whether the word is a subcommand, or asks for help. Prints what is wrong if it does not.
bool knows_subcommand(const CLI::App& app, const std::string& word) {
  if (word == "-h" || word == "--help" || word == "--version") return true;
  std::string known;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (one->get_name() == word) return true;
    if (one->get_group().empty()) continue;  // isthmusd itself starts it
    known += (known.empty() ? "" : ", ") + one->get_name();
  }
  std::cerr << "isthmusd: "
            << (word.empty() ? "a subcommand is missing" : "'" + word + "' is not a subcommand")
            << "; subcommands are " << known << "\n  See: isthmusd --help" << std::endl;
  return false;
}

// Prints a wrong command line as other errors of Isthmus, and where its help is.
int say(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += ' ' + at->get_name();
  }
  std::cerr << "isthmusd: " << error.what() << "\n  See: " << command << " --help" << std::endl;
  return kUsage;
}

// For an option. Returns the error, which is empty for a number from 1 up.
std::string check_count(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const bool positive = text.find_first_of("123456789") != std::string::npos;
  return digits && positive ? "" : "'" + text + "' is not a whole number from 1 up";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "isthmusd, the part of Isthmus that runs on clusters: starts a cluster's ranks under its "
      "native MPI launcher and forwards messages between clusters. `isthmus run` starts it; "
      "there is no need to start it by hand.",
      "isthmusd"};
  app.set_version_flag("--version", std::string("isthmusd " ISTHMUS_VERSION ", commit ") +
                                        commit() + ", wire protocol " +
                                        std::to_string(isthmus::core::kProtocolVersion));
  app.require_subcommand(1);
  app.footer(
      "Environment:\n"
      "  ISTHMUS_LIBDIR    folder of the libraries that programs are given (default: beside\n"
      "                    this program, in ../" ISTHMUS_LIBDIR_BELOW_PREFIX
      ")\n"
      "  XDG_RUNTIME_DIR   where the private folder of each job is made (default: /tmp, else\n"
      "                    TMPDIR, else /dev/shm)\n"
      "  ISTHMUS_DEBUG_MEMORY\n"
      "                    set: debuggers and core dumps see the memory of agents, gateways\n"
      "                    and services, with their secrets\n");

  const CLI::App* agent = app.add_subcommand(
      "agent",
      "Serve one cluster of one job: read requests from standard input, write answers to "
      "standard output. Ends, and ends all it started, with its input.");
  const CLI::App* gateway = app.add_subcommand(
      "gateway", "As `agent`, but start no programs: a gateway on a host of its own.");

  ExecOptions exec_options;
  CLI::App* exec = app.add_subcommand(
      "exec",
      "Run one rank; the native launcher starts this. Reads the environment that the agent "
      "made, preloads Isthmus into PROGRAM and runs it. Exit status 127: not found, 126: cannot "
      "be run, else the program's.");
  exec->add_option("--part", exec_options.part, "Which part of ISTHMUS_PARTS this rank belongs to");
  exec->add_flag("--by-rank", exec_options.by_rank,
                 "Find part and program in ISTHMUS_PARTS by the native rank");
  exec->add_option("--argv", exec_options.argv_file,
                   "Read PROGRAM ARGS from this file, each followed by a NUL");
  exec->footer("After -- comes PROGRAM ARGS...");

  const CLI::App* tidy =
      app.add_subcommand("tidy", "Remove files of a rank after its end; ranks start this.");

  ExamineOptions examined;
  CLI::App* examine = app.add_subcommand(
      "examine",
      "Print what this host has, for `isthmus doctor`; then the time for each line read.");
  examine->add_option("--mpi", examined.mpi, "The cluster's MPI, as in the grid file");
  examine->add_option("--launch", examined.launch, "Its launcher, as in the grid file");

  std::string config;
  CLI::App* service = app.add_subcommand(
      "serve",
      "Run a relay for the jobs of many users, whose clusters only dial out (isthmusd(8)). "
      "SIGHUP: read the file again. SIGTERM: take no new jobs, and end with the last one.");
  service->add_option("--config", config, "The file with its addresses, users and limits")
      ->required();

  std::string folder, user, out;
  CLI::App* key =
      app.add_subcommand("key", "Make, limit, list and revoke the keys of a service's users.");
  key->require_subcommand(1);
  CLI::App* add = key->add_subcommand("add", "Make a key for a user, and print it.");
  add->add_option("user", user, "Letters, digits, '_', '.' and '-'")->required();
  add->add_option("--out", out, "Write it to this new file instead, which only its owner can read");
  CLI::App* limit = key->add_subcommand("limit",
                                        "Set limits of a key, or of all keys of a user, within the "
                                        "user's; without any, remove them.");
  limit->add_option("name", user, "The name of a key, or a user")->required();
  KeyLimitWords limits;
  for (CLI::App* command : {add, limit}) {
    command->add_option("--connections", limits.connections, "Most connections at a time")
        ->check(check_count);
    command->add_option("--rate", limits.rate,
                        "Most of both directions together, such as '100 Mbit/s'");
    command->add_option("--memory", limits.memory,
                        "Most memory for data under way, such as '64 MiB'");
  }
  CLI::App* list =
      key->add_subcommand("list", "List all keys: name, user, when made and revoked, limits.");
  CLI::App* revoke = key->add_subcommand("revoke", "Revoke a key, or all keys of a user, at once.");
  revoke->add_option("name", user, "The name of a key, or a user")->required();
  for (CLI::App* command : {add, limit, list, revoke}) {
    command->add_option("--keys", folder, "The service's folder of keys")->required();
  }

  CLI::App* of_user = app.add_subcommand("service-user", "");
  of_user->group("");  // what `serve` starts for each user
  of_user->add_option("user", user, "");

  std::string library;
  CLI::App* version = app.add_subcommand(
      "library-version", "Print the answer of MPI_Get_library_version of an MPI library.");
  version->add_option("library", library, "Path of the library")->required();

  const CLI::App* estimates = app.add_subcommand(
      "estimate",
      "Estimate collectives for `isthmus profile show`: print algorithm and seconds for each line "
      "COLLECTIVE BYTES CLUSTERxRANKS,... [NETWORK].");

  // The words behind `exec ... --` stay as they are. The parser would change some, such as "[a,b]".
  if (argc > 1 && std::string_view(argv[1]) == "exec") {
    char** const end = std::find(argv, argv + argc, std::string_view("--"));
    if (end != argv + argc) exec_options.argv.assign(end + 1, argv + argc);
    argc = static_cast<int>(end - argv);
  }
  const auto word = [&](int at) { return argc > at ? std::string(argv[at]) : std::string(); };
  if (!knows_subcommand(app, word(1))) return kUsage;
  if (word(1) == key->get_name() && !knows_subcommand(*key, word(2))) return kUsage;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return say(app, error);
  }
  if (agent->parsed()) return serve(false);
  if (gateway->parsed()) return serve(true);
  if (exec->parsed()) return run_exec(exec_options);
  if (tidy->parsed()) return run_tidy();
  if (service->parsed()) {
    hide_memory();
    return run_service(config, own_path());
  }
  if (add->parsed()) return add_service_key(folder, user, out, limits);
  if (limit->parsed()) return limit_service_key(folder, user, limits);
  if (list->parsed()) return list_service_keys(folder);
  if (revoke->parsed()) return revoke_service_key(folder, user);
  if (of_user->parsed()) {
    hide_memory();
    return run_service_worker();
  }
  if (estimates->parsed()) return isthmus::coll::run_estimates(std::cin, std::cout, std::cerr);
  if (examine->parsed()) return run_examine(examined, own_path(), std::cin, std::cout);
  return print_library_version(library);
}
