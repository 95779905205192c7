// MPI-4.1 section 11.3.2: the process sets of a session. mpi://WORLD is the grid. The native
// library's sets are extended by isthmus://cluster/NAME of each cluster, isthmus://grid/NAME of
// each inner grid, and isthmus://spare/NAME of each spare cluster, which has no members. Spare
// clusters may join later: their sets follow, and none is taken away.
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/comm/group.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/cluster_changes.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

#ifdef ISTHMUS_HAS_Session_init

namespace isthmus::face {
namespace {

constexpr const char* kClusters = "isthmus://cluster/";
constexpr const char* kGrids = "isthmus://grid/";
constexpr const char* kSpares = "isthmus://spare/";

struct InnerGrid {
  std::string name;
  std::vector<std::string> clusters;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> found;
  std::istringstream rest(text);
  for (std::string piece; std::getline(rest, piece, at);) found.push_back(piece);
  return found;
}

/// From the launcher: names alone are not enough, since a cluster's own may have dots.
const std::vector<InnerGrid>& inner_grids() {
  static const std::vector<InnerGrid> known = [] {
    std::vector<InnerGrid> found;
    const char* const said = setting("ISTHMUS_GRIDS");
    for (const std::string& entry : split(said == nullptr ? "" : said, ';')) {
      const auto equals = entry.find('=');
      if (equals == std::string::npos) continue;
      found.push_back({entry.substr(0, equals), split(entry.substr(equals + 1), ',')});
    }
    return found;
  }();
  return known;
}

std::optional<core::Group> members_of_grid(const InnerGrid& inner) {
  std::optional<core::Group> found;
  for (const core::Cluster& cluster : grid()->part()) {
    if (std::ranges::find(inner.clusters, cluster.name) == inner.clusters.end()) continue;
    const auto members = core::Group::range(cluster.first, cluster.size);
    found = found ? found->unite(members) : members;
  }
  return found;
}

/// The sets that are ours, by name: of clusters, then of inner grids, outer ones first, then of
/// spare clusters.
std::vector<std::string> our_sets() {
  std::vector<std::string> names;
  if (native_call()) return names;
  for (const core::Cluster& cluster : grid()->part()) names.push_back(kClusters + cluster.name);
  for (const InnerGrid& inner : inner_grids()) {
    if (members_of_grid(inner)) names.push_back(kGrids + inner.name);
  }
  for (const std::string& spare : ClusterChanges::all().spares()) names.push_back(kSpares + spare);
  return names;
}

/// The members of a set of ours; empty for a native one.
std::optional<core::Group> members_of(const char* name) {
  if (native_call() || name == nullptr) return std::nullopt;
  const Grid& here = *grid();
  if (strcasecmp(name, "mpi://WORLD") == 0) return here.part_group();
  if (strcasecmp(name, "mpi://SELF") == 0) return core::Group::range(here.node, 1);
  for (const core::Cluster& cluster : here.part()) {
    if (name == kClusters + cluster.name) return core::Group::range(cluster.first, cluster.size);
  }
  for (const InnerGrid& inner : inner_grids()) {
    if (name == kGrids + inner.name) return members_of_grid(inner);
  }
  for (const std::string& spare : ClusterChanges::all().spares()) {
    if (name == kSpares + spare) return core::Group{};
  }
  return std::nullopt;
}

/// Has the native library judge the session; its error has been raised.
int check_session(MPI_Session session) {
  int number = 0;
  return native.Session_get_num_psets(session, MPI_INFO_NULL, &number);
}

/// Whether it names a cluster, spare or not, or a grid that does not exist. The native library's
/// errors about sets bypass the session's handler (MPICH 4.0), so this one does not call it.
bool is_unknown(const char* name) {
  if (native_call() || name == nullptr) return false;
  const std::string_view text = name;
  const bool ours =
      text.starts_with(kClusters) || text.starts_with(kGrids) || text.starts_with(kSpares);
  return ours && !members_of(name);
}
int refuse(MPI_Session session, const char* function, const char* name) {
  const int code =
      error_code(MPI_ERR_ARG, function, std::string("the grid has no process set '") + name + "'");
  const Outside outside;  // the handler may be the program's own
  native.Session_call_errhandler(session, code);
  return code;
}

/// Writes a name as MPI does: a length of 0 requests the length.
void write_name(const std::string& name, int* length, char* out) {
  const auto needed = static_cast<int>(name.size()) + 1;
  if (*length > 0) {
    const int size = std::min(*length, needed);
    std::memcpy(out, name.c_str(), static_cast<std::size_t>(size));
    out[size - 1] = 0;
  }
  *length = needed;
}

}  // namespace

// coverage: the native library's, and one for each cluster, spare or not, and each inner grid
ISTHMUS_MPI(Session_get_num_psets)(MPI_Session session, MPI_Info info, int* npset_names) {
  const int code = native.Session_get_num_psets(session, info, npset_names);
  if (code == MPI_SUCCESS) *npset_names += static_cast<int>(our_sets().size());
  return code;
}

// coverage: isthmus://cluster/NAME, grid/NAME and spare/NAME follow the native library's
ISTHMUS_MPI(Session_get_nth_pset)
(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name) {
  int natives = 0;
  if (const int code = native.Session_get_num_psets(session, info, &natives); code != MPI_SUCCESS) {
    return code;
  }
  const std::vector<std::string> ours = our_sets();
  if (n < natives || n >= natives + static_cast<int>(ours.size())) {
    return native.Session_get_nth_pset(session, info, n, pset_len, pset_name);
  }
  write_name(ours[static_cast<std::size_t>(n - natives)], pset_len, pset_name);
  return MPI_SUCCESS;
}

// coverage: mpi_size counts the whole grid in mpi://WORLD
ISTHMUS_MPI(Session_get_pset_info)
(MPI_Session session, const char* pset_name, MPI_Info* info) {
  const auto members = members_of(pset_name);
  if (is_unknown(pset_name)) return refuse(session, "MPI_Session_get_pset_info", pset_name);
  if (!members) return native.Session_get_pset_info(session, pset_name, info);
  if (const int code = check_session(session); code != MPI_SUCCESS) return code;
  const Inside inside;
  if (const int code = native.Info_create(info); code != MPI_SUCCESS) return code;
  return native.Info_set(*info, "mpi_size", std::to_string(members->size()).c_str());
}

// coverage: mpi://WORLD is the grid; isthmus://cluster/NAME and isthmus://grid/NAME its parts
ISTHMUS_MPI(Group_from_session_pset)
(MPI_Session session, const char* pset_name, MPI_Group* newgroup) {
  const auto members = members_of(pset_name);
  if (is_unknown(pset_name)) return refuse(session, "MPI_Group_from_session_pset", pset_name);
  if (!members || newgroup == nullptr) {
    return native.Group_from_session_pset(session, pset_name, newgroup);
  }
  if (const int code = check_session(session); code != MPI_SUCCESS) return code;
  return shielded(MPI_COMM_NULL, "MPI_Group_from_session_pset",
                  [&] { return make_group(*members, grid_session(session), newgroup); });
}

}  // namespace isthmus::face

#endif
