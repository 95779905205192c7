// `isthmusd agent` and `isthmusd gateway`: serve one launcher over a pair of descriptors
// (docs/control.md).
#pragma once

#include <string>

namespace isthmus::daemon {

struct AgentOptions {
  int in = 0;
  int out = 1;
  std::string self;            ///< path of this program, for the ranks' wrapper
  bool gateways_only = false;  ///< refuse to start programs
};

/// Serves until `end` (returns 0), the end of input (0), a signal (128 + its number) or a broken
/// control stream (1). In a run that survives, the end of input may mean that the launcher is lost:
/// then it serves until all ranks have ended (0), or have to end. Everything it started is gone
/// when it returns.
int run_agent(const AgentOptions& options);

}  // namespace isthmus::daemon
