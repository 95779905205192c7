#include "daemon/launch/slurm.hpp"

#include <algorithm>
#include <sstream>

#include "daemon/host/failure.hpp"
#include "daemon/launch/child.hpp"

namespace isthmus::daemon {
namespace {

bool is_pmix(const std::string& type) { return type == "pmix" || type.starts_with("pmix_v"); }

std::string listing_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list.empty() ? "nothing" : list;
}

}  // namespace

// Since 22.05 each type has an indented line, and one says "specific pmix plugin versions
// available: pmix_v4". Before, "srun: pmi2", in 20.11 and older on standard error.
std::vector<std::string> pmi_types(const std::string& listing) {
  static const std::string lead = "pmix plugin versions available:";
  std::vector<std::string> types;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("srun: ")) line.erase(0, 6);
    const std::size_t versions = line.find(lead);
    if (versions != std::string::npos) line.erase(0, versions + lead.size());
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::vector<std::string> names;
    for (std::string word; words >> word;) names.push_back(word);
    if (names.size() == 1 || versions != std::string::npos) {
      types.insert(types.end(), names.begin(), names.end());
    }
  }
  return types;
}

std::string choose_pmi(const std::vector<std::string>& types, const MpiLibrary& library,
                       const Site& site) {
  const auto offered = [&](const std::string& type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  const auto some_pmix = std::find_if(types.begin(), types.end(), is_pmix);
  const bool open_mpi = library.abi == "ompi";
  if (!open_mpi && offered("pmi2")) return "pmi2";
  if (offered("pmix")) return "pmix";
  if (some_pmix != types.end()) return *some_pmix;
  throw Failure("Slurm's srun on " + site.host + " offers " + listing_of(types) +
                    " for --mpi=; programs of '" + library.path + "' need " +
                    (open_mpi ? "pmix" : "pmi2 or pmix"),
                "Ask for that plugin of Slurm; or set the cluster's launch key to \"mpirun\", "
                "inside an allocation, or to \"srun --mpi=TYPE -n {n} {command}\".");
}

std::string find_pmi(const Launcher& launcher, const MpiLibrary& library, const Site& site) {
  if (site.environment.get("SLURM_MPI_TYPE")) return {};
  ChildPlan plan;
  plan.argv = {launcher.path, "--mpi=list"};
  plan.environment = site.environment;
  const Captured said = capture(std::move(plan), std::chrono::seconds(10), site.hangup_fd);
  const std::vector<std::string> types = pmi_types(said.out + "\n" + said.err);
  if (said.timed_out || types.empty()) return {};
  return choose_pmi(types, library, site);
}

}  // namespace isthmus::daemon
