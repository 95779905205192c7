// The choice of Slurm's `srun --mpi`.
#pragma once

#include <string>
#include <vector>

#include "daemon/launch/find_launcher.hpp"

namespace isthmus::daemon {

/// The names in what `srun --mpi=list` prints.
std::vector<std::string> pmi_types(const std::string& listing);

/// The type of `types` with which a library can be started, for --mpi=. Empty: the site's own
/// choice. Throws Failure if the library knows none of them.
std::string choose_pmi(const std::vector<std::string>& types, const MpiLibrary& library,
                       const Site& site);

/// Asks the launcher, unless the user has chosen by SLURM_MPI_TYPE or it cannot be asked.
std::string find_pmi(const Launcher& launcher, const MpiLibrary& library, const Site& site);

}  // namespace isthmus::daemon
