// `isthmusd exec`: what the native launcher starts for every rank.
#pragma once

#include <string>
#include <vector>

#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

struct ExecOptions {
  int part = 0;          ///< whose variables of ISTHMUS_PARTS apply
  bool by_rank = false;  ///< find part and program in ISTHMUS_PARTS by the native rank
  std::vector<std::string> argv;
  std::string argv_file{};  ///< where the words are (argv_file.hpp), if they are not in `argv`
};

/// The program of a rank, and its number and place.
struct RankPlan {
  std::vector<std::string> argv;
  Environment environment;
  std::string directory;
  int world_rank = 0;
  bool tag_output = false;
  std::string output_file;  ///< pattern (rank_output.hpp); empty: to the launcher
  std::string error_file;   ///< pattern; empty: as output_file
  bool show_rank = false;
};

/// Native rank from the variables that native launchers set; throws Failure when there is none.
int native_rank(const Environment& environment);

/// Works out the plan from the environment that the agent made (docs/control.md). Throws Failure.
RankPlan plan_rank(const ExecOptions& options, const Environment& environment);

/// Becomes the program, or runs it with tagged output. Returns only then, or when it cannot: the
/// exit status, 127 or 126 as shells have it, after a sentence on standard error.
int run_exec(const ExecOptions& options);

}  // namespace isthmus::daemon
