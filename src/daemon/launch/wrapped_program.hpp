// What a wrapper starts: `valgrind ./app`, `env X=1 ./app`, `./run.sh`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/launch/program.hpp"

namespace isthmus::daemon {

/// The MPI library of the program that `argv` starts, if `argv` itself is not an MPI program. It is
/// that of the first later word that is an MPI program, or else of the programs that a script, or a
/// shell's -c, plainly names. Empty if there is none, or if they differ. Words that cannot be
/// examined are skipped.
std::optional<MpiLibrary> wrapped_library(const std::vector<std::string>& argv, const Site& site);

/// Words of a script that may be programs, in order: no comments, no words that a shell expands.
std::vector<std::string> plain_words(const std::string& script);

}  // namespace isthmus::daemon
