// Long command lines of programs, which go past the native launchers by a file. MPICH's launcher
// crashes at 1,000 words (Hydra 4.0, 5.0). Open MPI's puts all of them into one variable for the
// rank, which the kernel limits to 128 KiB (4.1, 5.0). 2026-11.
#pragma once

#include <string>
#include <vector>

namespace isthmus::daemon {

/// Whether a native launcher might fail at it.
bool is_long(const std::vector<std::string>& argv);
/// The file is the user's alone. Throws Failure.
void write_argv(const std::string& path, const std::vector<std::string>& argv);
/// Throws Failure.
std::vector<std::string> read_argv_file(const std::string& path);

}  // namespace isthmus::daemon
