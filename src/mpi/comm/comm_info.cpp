// MPI-4.1 section 7.4.4: hints of communicators. The native library keeps them; four are ours.
#include "mpi/comm/comm_info.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/world/world.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/comm/twins.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kAlgorithms = "isthmus_coll";
constexpr const char* kLink = "isthmus_link";
constexpr const char* kReorder = "isthmus_reorder";
constexpr const char* kReproducible = "isthmus_reproducible";

std::optional<std::string> hint_of(MPI_Info info, const char* hint) {
  if (info == MPI_INFO_NULL) return std::nullopt;
  const Inside inside;
  std::vector<char> value(MPI_MAX_INFO_VAL + 1);
  int found = 0;
  if (native.Info_get(info, hint, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS ||
      found == 0) {
    return std::nullopt;
  }
  return value.data();
}

std::optional<bool> truth_of(MPI_Info info, const char* hint) {
  const auto said = hint_of(info, hint);
  if (!said) return std::nullopt;
  if (*said == "true" || *said == "false") return *said == "true";
  throw MpiError(MPI_ERR_INFO_VALUE, std::string("the info key ") + hint + " is \"" + *said +
                                         "\"; it can be \"true\" or \"false\"");
}

std::set<std::size_t> clusters_in(const GridComm& comm) {
  std::set<std::size_t> all;
  for (int i = 0; i < comm.layout.clusters(); ++i) {
    const int first = comm.layout.members(i).front();
    all.insert(grid()->world().cluster_of_node(static_cast<core::NodeId>(comm.group.node(first))));
  }
  return all;
}

/// The links between clusters of the communicator, which all members find alike.
core::LinkChoice link_of(const std::string& name, const GridComm& comm) {
  if (name.empty()) return core::kAnyLink;
  if (name == "gateway") return core::kByGateways;
  const core::World& world = grid()->world();
  const std::set<std::size_t> clusters = clusters_in(comm);
  const auto joins = [&](const auto& link) {
    return clusters.contains(link.a) && clusters.contains(link.b);
  };
  std::string known;
  for (const core::NamedLink& link : world.named) {
    if (!joins(link)) continue;
    if (link.name == name) return world.choice_of(name);
    known += link.name + ", ";
  }
  const bool direct = std::any_of(world.direct.begin(), world.direct.end(), joins);
  if (direct && name == "direct") return core::kAnyLink;
  known += direct ? "direct and gateway" : "and gateway";
  if (known == "and gateway") known = "gateway alone";
  throw MpiError(MPI_ERR_INFO_VALUE,
                 std::string("the info key ") + kLink + " is \"" + name +
                     "\", which is no link between the clusters of the communicator; there "
                     "is " +
                     known +
                     " (a [[link]] of the grid file gets a name by its key "
                     "'name')");
}

}  // namespace

bool reorders_by(MPI_Info info, const GridComm& comm) {
  return truth_of(info, kReorder).value_or(comm.reorders);
}

std::optional<bool> reproducible_by(MPI_Info info) { return truth_of(info, kReproducible); }

Hints hints_by(MPI_Info info, const GridCommRef& comm) {
  Hints hints{comm->forced, comm->link, reorders_by(info, *comm),
              reproducible_by(info).value_or(comm->reproducible)};
  if (const auto text = hint_of(info, kAlgorithms)) {
    try {
      hints.forced = coll::parse_forced(*text, hints.forced);
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(std::string("the info key ") + kAlgorithms +
                                  " is wrong: " + wrong.what());
    }
  }
  if (const auto name = hint_of(info, kLink)) hints.link = link_of(*name, *everyone(comm));
  return hints;
}

void heed(const GridCommRef& comm, const Hints& hints) {
  const GridCommRef all = everyone(comm);
  comm->forced = all->forced = hints.forced;
  comm->reorders = hints.reorders;
  comm->reproducible = all->reproducible = hints.reproducible;
  all->choose_link(hints.link);
  comm->choose_link(hints.link);
}

// coverage: heeds the keys isthmus_coll, isthmus_link, isthmus_reorder and isthmus_reproducible
ISTHMUS_MPI(Comm_set_info)(MPI_Comm comm, MPI_Info info) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found && native_call()) return native.Comm_set_info(comm, info);
  return shielded(comm, "MPI_Comm_set_info", [&] {
    if (!found) {
      const auto reproducible = reproducible_by(info);
      const int code = native.Comm_set_info(comm, info);
      if (code == MPI_SUCCESS && reproducible) choose_reproducible(comm, *reproducible);
      return code;
    }
    heed(found, hints_by(info, found));
    ++grid()->choices_by;  // a new communicator has kept none
    return native.Comm_set_info(comm, info);
  });
}

}  // namespace isthmus::face
