// The native launchers, and the command of each to start the ranks. Each kind is a row in
// launcher.cpp (docs/adding-a-launcher.md).
#pragma once

#include <string>
#include <vector>

#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

enum class LauncherKind { OpenMpi4, OpenMpi5, Hydra, Srun, Flux, Template };

struct Launcher {
  LauncherKind kind = LauncherKind::Template;
  std::string path;                    ///< of the program; for Template the template itself
  std::string pmi{};                   ///< of Srun: what --mpi= names; empty: the site's choice
  std::vector<std::string> options{};  ///< the user's, before all others; none for Template
};

struct LaunchPart {
  int n = 0;
  std::vector<std::string> argv;
  std::string argv_file{};  ///< of those (argv_file.hpp); empty: they are words of the command
};

struct LaunchPlan {
  std::vector<LaunchPart> parts;
  std::string isthmusd;                ///< path of this program, which wraps every rank
  std::vector<std::string> forwarded;  ///< names of variables that every rank must get
  std::vector<std::string> hosts;      ///< where the ranks run; empty: the launcher's choice
  bool stdin_to_first = false;         ///< native rank 0 reads standard input
  bool oversubscribed = false;         ///< more ranks than cores
  std::string session_dir;             ///< where the launcher may keep its files; empty: anywhere
  bool here = false;                   ///< all ranks run on the launcher's own host
  bool bind = true;                    ///< leave binding to the native launcher's default
  std::string bind_to;                 ///< "hwthread", "core", "numa", "socket" or "none"; empty:
                                       ///< as `bind` says
  std::string map_by;                  ///< "slot", "core", "socket" or "node"; empty: its default
  int ranks_per_node = 0;              ///< at most; 0: its default. Then `map_by` is empty
};

/// The native launcher's command line. Values of variables never appear in it, only names.
/// Throws Failure for a template that cannot be used.
std::vector<std::string> launch_command(const Launcher& launcher, const LaunchPlan& plan);

/// The properties of a kind.
struct LauncherRow {
  LauncherKind kind;
  const char* family;  ///< in messages
  /// The MPI (Stub::abi) whose programs alone it starts; "": those of any.
  const char* abi;
  std::vector<std::string> (*command)(const Launcher&, const LaunchPlan&);
  /// Whether this is what it prints for --version.
  bool (*says)(const std::string& text) = nullptr;
  /// It cannot carry standard input of any size to a rank that is slow to read it.
  bool garbles_stdin = false;
  /// It changes PATH and LD_LIBRARY_PATH of the ranks.
  bool changes_paths = false;
  /// All ranks get one command, `isthmusd exec --by-rank`, if there are several parts.
  bool one_command = false;
};
const LauncherRow& row_of(LauncherKind kind);
/// The kind of the launcher that prints `text` for --version; null if none does.
const LauncherRow* launcher_that_says(const std::string& text);

/// Sets what the native launcher itself needs to find in its environment.
void prepare_environment(const Launcher& launcher, const LaunchPlan& plan, bool root,
                         Environment& environment);

/// Whether it starts ranks only on its own host, given neither hosts nor a batch job.
bool starts_here(const Launcher& launcher, const Environment& environment);

/// Whether the ranks of all parts get one command, `isthmusd exec --by-rank`, so that each finds
/// its part by its native rank.
bool by_rank(const Launcher& launcher, const LaunchPlan& plan);

/// Splits like a shell without expansions: blanks, '...', "...", and \ before any character.
/// Throws Failure for an unclosed quote.
std::vector<std::string> split_words(const std::string& text);

/// The word as a POSIX shell would have to be given it.
std::string shell_quoted(const std::string& word);

}  // namespace isthmus::daemon
