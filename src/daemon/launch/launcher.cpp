#include "daemon/launch/launcher.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

using Words = std::vector<std::string>;

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

int total(const LaunchPlan& plan) {
  return std::accumulate(plan.parts.begin(), plan.parts.end(), 0,
                         [](int sum, const LaunchPart& part) { return sum + part.n; });
}

Words rank_command(const LaunchPlan& plan, std::size_t part) {
  Words words{plan.isthmusd, "exec", "--part", std::to_string(part)};
  if (const std::string& file = plan.parts[part].argv_file; !file.empty()) {
    append(words, {"--argv", file});
    return words;
  }
  words.emplace_back("--");
  append(words, plan.parts[part].argv);
  return words;
}

// For launchers that start one command for all ranks.
Words uniform_command(const LaunchPlan& plan) {
  if (plan.parts.size() == 1) return rank_command(plan, 0);
  return {plan.isthmusd, "exec", "--by-rank"};
}

// mpirun's several-programs form: OPTIONS -n N COMMAND : OPTIONS -n N COMMAND ...
Words colon_separated(const LaunchPlan& plan, const Words& options_of_each) {
  Words words;
  for (std::size_t part = 0; part < plan.parts.size(); ++part) {
    if (part > 0) words.emplace_back(":");
    append(words, options_of_each);
    append(words, {"-n", std::to_string(plan.parts[part].n)});
    append(words, rank_command(plan, part));
  }
  return words;
}

std::string joined(const Words& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return list;
}

// The number of ranks on a host: the user's, or the same on all hosts.
int ranks_per_host(const LaunchPlan& plan) {
  if (plan.ranks_per_node > 0) return plan.ranks_per_node;
  const int hosts = static_cast<int>(plan.hosts.size());
  return (total(plan) + hosts - 1) / hosts;
}

// "a:4,b:4", as Open MPI and Hydra know it: a host and how many ranks it takes.
std::string hosts_with_slots(const LaunchPlan& plan) {
  std::string list;
  for (const std::string& host : plan.hosts) {
    list += (list.empty() ? "" : ",") + host + ":" + std::to_string(ranks_per_host(plan));
  }
  return list;
}

Words forwarded_by_x(const LaunchPlan& plan) {
  Words words;
  for (const std::string& name : plan.forwarded) append(words, {"-x", name});
  return words;
}

// The options that Open MPI needs again for each program.
Words open_mpi_options(const LaunchPlan& plan) {
  Words words;
  if (!plan.hosts.empty()) words = {"--host", hosts_with_slots(plan)};
  append(words, forwarded_by_x(plan));
  return words;
}

// The launcher and the user's options for it.
Words beginning(const Launcher& launcher) {
  Words words{launcher.path};
  append(words, launcher.options);
  return words;
}

// Open MPI binds more ranks than there are cores only with overload-allowed.
Words open_mpi_binding(const LaunchPlan& plan, const std::string& socket) {
  if (plan.bind_to.empty()) {
    return plan.oversubscribed || !plan.bind ? Words{"--bind-to", "none"} : Words{};
  }
  if (plan.bind_to == "none") return {"--bind-to", "none"};
  const std::string what = plan.bind_to == "socket" ? socket : plan.bind_to;
  return {"--bind-to", what + (plan.oversubscribed ? ":overload-allowed" : "")};
}

// The value of Open MPI's --map-by; empty: its default.
std::string open_mpi_mapping(const LaunchPlan& plan, const std::string& socket) {
  if (plan.ranks_per_node > 0) return "ppr:" + std::to_string(plan.ranks_per_node) + ":node";
  return plan.map_by == "socket" ? socket : plan.map_by;
}

Words open_mpi_4(const Launcher& launcher, const LaunchPlan& plan) {
  Words words = beginning(launcher);
  if (plan.oversubscribed) words.emplace_back("--oversubscribe");
  const std::string by = open_mpi_mapping(plan, "socket");
  if (!by.empty()) append(words, {"--map-by", by});
  append(words, open_mpi_binding(plan, "socket"));
  append(words, colon_separated(plan, open_mpi_options(plan)));
  return words;
}

Words open_mpi_5(const Launcher& launcher, const LaunchPlan& plan) {
  Words words = beginning(launcher);
  const std::string by = open_mpi_mapping(plan, "package");
  const std::string how = plan.oversubscribed ? ":OVERSUBSCRIBE" : "";
  if (!by.empty() || !how.empty()) append(words, {"--map-by", by + how});
  append(words, open_mpi_binding(plan, "package"));
  append(words, colon_separated(plan, open_mpi_options(plan)));
  return words;
}

// Hydra passes its whole environment on, and binds nothing unless asked. Its -map-by knows only
// parts of a host.
Words hydra(const Launcher& launcher, const LaunchPlan& plan) {
  Words words = beginning(launcher);
  if (!plan.bind_to.empty()) append(words, {"-bind-to", plan.bind_to});
  if (plan.ranks_per_node > 0) {
    append(words, {"-ppn", std::to_string(plan.ranks_per_node)});
  } else if (plan.map_by == "node") {
    append(words, {"-ppn", "1"});
  } else if (!plan.map_by.empty() && plan.map_by != "slot") {
    append(words, {"-map-by", plan.map_by});
  }
  if (!plan.hosts.empty()) append(words, {"-hosts", hosts_with_slots(plan)});
  append(words, colon_separated(plan, {}));
  return words;
}

std::string cpu_bind_of_slurm(const std::string& bind_to) {
  if (bind_to == "hwthread") return "threads";
  return bind_to == "numa" ? "ldoms" : bind_to + "s";
}

Words srun(const Launcher& launcher, const LaunchPlan& plan) {
  Words words = beginning(launcher);
  append(words, {"-n", std::to_string(total(plan)), "--export=ALL",
                 plan.stdin_to_first ? "--input=0" : "--input=none"});
  if (!launcher.pmi.empty()) words.push_back("--mpi=" + launcher.pmi);
  if (!plan.hosts.empty()) append(words, {"--nodelist", joined(plan.hosts)});
  if (plan.oversubscribed) words.emplace_back("--overcommit");
  if (!plan.bind_to.empty() && plan.bind_to != "none") {
    words.push_back("--cpu-bind=" + cpu_bind_of_slurm(plan.bind_to));
  } else if (plan.oversubscribed || plan.bind_to == "none") {
    words.emplace_back("--cpu-bind=none");
  }
  if (plan.ranks_per_node > 0) {
    words.push_back("--ntasks-per-node=" + std::to_string(plan.ranks_per_node));
  }
  if (!plan.map_by.empty()) {
    words.emplace_back(plan.map_by == "node"     ? "--distribution=cyclic"
                       : plan.map_by == "socket" ? "--distribution=block:cyclic"
                                                 : "--distribution=block:block");
  }
  append(words, uniform_command(plan));
  return words;
}

Words custom(const Launcher& launcher, const LaunchPlan& plan) {
  if (!plan.bind_to.empty() || !plan.map_by.empty() || plan.ranks_per_node > 0) {
    throw Failure("--bind-to, --map-by and --ppn cannot be passed to the launch template '" +
                      launcher.path + "'",
                  "Write the options into the template ('launch' of the cluster).");
  }
  const Words command = uniform_command(plan);
  std::string quoted;
  for (const std::string& word : command) {
    quoted += (quoted.empty() ? "" : " ") + shell_quoted(word);
  }
  Words words;
  bool has_command = false;
  for (std::string word : split_words(launcher.path)) {
    if (word == "{command}") {
      append(words, command);
      has_command = true;
      continue;
    }
    const auto replace = [&word](const std::string& key, const std::string& value) {
      const std::size_t at = word.find(key);
      if (at == std::string::npos) return false;
      word.replace(at, key.size(), value);
      return true;
    };
    replace("{n}", std::to_string(total(plan)));
    replace("{hosts}", joined(plan.hosts));
    has_command = replace("{command}", quoted) || has_command;
    words.push_back(word);
  }
  if (!has_command || words.empty() || words.front() == plan.isthmusd) {
    throw Failure(
        "the launch template '" + launcher.path + "' does not say how to start the program",
        "Write it as LAUNCHER OPTIONS -n {n} {command}.");
  }
  return words;
}

// As in its manual of 2026-11. It starts no more ranks than it has cores for.
Words flux(const Launcher& launcher, const LaunchPlan& plan) {
  const auto& binding = plan.bind_to;
  if (plan.map_by == "socket" || plan.map_by == "slot" || plan.ranks_per_node > 0 ||
      (!binding.empty() && binding != "core" && binding != "none")) {
    throw Failure("flux run takes only --bind-to core or none, --map-by node, and no --ppn",
                  "Use these, or options of flux in the cluster's launch key.");
  }
  Words words = beginning(launcher);
  if (launcher.options.empty()) words.emplace_back("run");
  append(words, {"-n", std::to_string(total(plan)),
                 plan.stdin_to_first ? "--input=0" : "--input=/dev/null"});
  if (!plan.hosts.empty()) {
    append(words,
           {"-N", std::to_string(plan.hosts.size()), "--requires=hosts:" + joined(plan.hosts)});
  }
  if (plan.bind_to == "core") append(words, {"-o", "cpu-affinity=per-task"});
  if (plan.bind_to == "none") append(words, {"-o", "cpu-affinity=off"});
  if (plan.map_by == "node") words.emplace_back("--taskmap=cyclic");
  append(words, uniform_command(plan));
  return words;
}

bool holds(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

bool is_hydra(const std::string& text) {
  return holds(text, "HYDRA") || holds(text, "Intel(R) MPI Library");
}

bool is_open_mpi_4(const std::string& text) {
  const std::string lead = "(Open MPI) ";
  const std::size_t at = text.find(lead);
  const std::size_t major = at + lead.size();
  return holds(text, "OpenRTE") || (at != std::string::npos && major < text.size() &&
                                    text[major] >= '2' && text[major] <= '4');
}

bool is_open_mpi_5(const std::string& text) {
  return holds(text, "(Open MPI) ") || holds(text, "PRRTE") || holds(text, "PRTE") ||
         holds(text, "prterun");
}

bool is_srun(const std::string& text) { return text.starts_with("slurm"); }
bool is_flux(const std::string& text) { return holds(text, "libflux-core:"); }

// 2026-11: Hydra 4.0 and 5.0 end the job when rank 0 is behind by more than the 64 KiB of a pipe
// ("process reading stdin too slowly"). Open MPI 5.0's prterun then delivers nothing more.
constexpr LauncherRow kRows[] = {
    {.kind = LauncherKind::Hydra,
     .family = "MPICH (Hydra)",
     .abi = "mpich",
     .command = hydra,
     .says = is_hydra,
     .garbles_stdin = true},
    {.kind = LauncherKind::OpenMpi4,
     .family = "Open MPI",
     .abi = "ompi",
     .command = open_mpi_4,
     .says = is_open_mpi_4,
     .changes_paths = true},
    {.kind = LauncherKind::OpenMpi5,
     .family = "Open MPI",
     .abi = "ompi",
     .command = open_mpi_5,
     .says = is_open_mpi_5,
     .garbles_stdin = true,
     .changes_paths = true},
    {.kind = LauncherKind::Srun,
     .family = "Slurm",
     .abi = "",
     .command = srun,
     .says = is_srun,
     .one_command = true},
    {.kind = LauncherKind::Flux,
     .family = "Flux",
     .abi = "",
     .command = flux,
     .says = is_flux,
     .one_command = true},
    {.kind = LauncherKind::Template,
     .family = "a template",
     .abi = "",
     .command = custom,
     .one_command = true},
};

}  // namespace

const LauncherRow& row_of(LauncherKind kind) {
  return *std::ranges::find(kRows, kind, &LauncherRow::kind);
}

const LauncherRow* launcher_that_says(const std::string& text) {
  const auto found = std::ranges::find_if(
      kRows, [&](const LauncherRow& row) { return row.says != nullptr && row.says(text); });
  return found == std::end(kRows) ? nullptr : found;
}

std::vector<std::string> launch_command(const Launcher& launcher, const LaunchPlan& plan) {
  return row_of(launcher.kind).command(launcher, plan);
}

void prepare_environment(const Launcher& launcher, const LaunchPlan& plan, bool root,
                         Environment& environment) {
  if (std::string_view(row_of(launcher.kind).abi) != "ompi") return;
  if (root) {  // Open MPI refuses to run as root otherwise (containers, mostly)
    environment.set("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  if (plan.oversubscribed && !environment.get("OMPI_MCA_mpi_yield_when_idle")) {
    environment.set("OMPI_MCA_mpi_yield_when_idle", "1");
  }
  // On SIGTSTP its mpirun then stops the ranks of all hosts, and continues them on SIGCONT.
  if (launcher.kind == LauncherKind::OpenMpi4 && !plan.here) {
    environment.set("OMPI_MCA_orte_forward_job_control", "1");
  }
  // Two mpiruns of Open MPI 4 that begin at once on a host race for making their common folder in
  // /tmp; the slower one says "File exists" and ends.
  const bool chosen = environment.get("OMPI_MCA_orte_tmpdir_base") ||
                      environment.get("OMPI_MCA_orte_local_tmpdir_base");
  if (launcher.kind == LauncherKind::OpenMpi4 && !plan.session_dir.empty() && !chosen) {
    environment.set("OMPI_MCA_orte_tmpdir_base", plan.session_dir);
  }
}

bool starts_here(const Launcher& launcher, const Environment& environment) {
  return row_of(launcher.kind).changes_paths ||
         (launcher.kind == LauncherKind::Hydra && !environment.get("HYDRA_HOST_FILE"));
}

bool by_rank(const Launcher& launcher, const LaunchPlan& plan) {
  return plan.parts.size() > 1 && row_of(launcher.kind).one_command;
}

std::vector<std::string> split_words(const std::string& text) {
  Words words;
  std::string word;
  bool open = false;  // a word has begun
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (quote != 0) throw Failure("the launch template '" + text + "' has an unclosed quote");
  if (open) words.push_back(std::move(word));
  return words;
}

std::string shell_quoted(const std::string& word) {
  static const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace isthmus::daemon
