#include "mpi/making/agree_on_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/networks.hpp"
#include "mpi/making/room.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/limits.hpp"

namespace isthmus::face {
namespace {

/// A predefined attribute of MPI_COMM_WORLD, or empty if the native library has no value.
std::optional<int> world_attribute(int keyval) {
  Inside inside;
  int* value = nullptr;
  int found = 0;
  if (native.Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &found) != MPI_SUCCESS || found == 0) {
    return std::nullopt;
  }
  return *value;
}

/// The same in a world and in all that it spawns: programs on both sides use it for decisions. Not
/// set if the library of one cluster does not know it: MPICH knows its own only from its launcher.
int universe_of(const std::vector<int>& of_clusters) {
  if (const char* const parents = setting("ISTHMUS_UNIVERSE")) return std::atoi(parents);
  if (std::find(of_clusters.begin(), of_clusters.end(), 0) != of_clusters.end()) return 0;
  return std::accumulate(of_clusters.begin(), of_clusters.end(), 0);
}

}  // namespace

void agree_on_limits() {
  struct Mine {
    int tag_upper_bound;
    int universe_size;  // of the cluster; 0 if it is not known
    std::uint64_t settings_mark;
    double bandwidth;  // of the room, at rank 0
    auto numbers() { return std::tie(tag_upper_bound, universe_size, settings_mark, bandwidth); }
  };
  Grid& here = *grid();
  GridLimits agreed;
  agreed.tag_upper_bound = here.shadow->tag_upper_bound;
  int universe = world_attribute(MPI_UNIVERSE_SIZE).value_or(0);
  if (universe > 0) universe = std::max(universe, here.local_size);
  const std::vector<Mine> all =
      tell_all(here.world_comm,
               Mine{agreed.tag_upper_bound, universe, here.settings_mark, bandwidth_of_room()});
  for (const Mine& each : all) {
    agreed.tag_upper_bound = std::min(agreed.tag_upper_bound, each.tag_upper_bound);
    if (each.settings_mark != all.front().settings_mark) {
      throw std::runtime_error(
          "ISTHMUS_COLL, ISTHMUS_NETWORK or ISTHMUS_REPRODUCIBLE is not the same on all ranks: "
          "give them to all with `isthmus run -x NAME=VALUE`");
    }
  }
  std::vector<int> universes;
  const coll::Layout& layout = here.world_comm->layout;
  for (int cluster = 0; cluster < layout.clusters(); ++cluster) {
    universes.push_back(all[static_cast<std::size_t>(layout.leader(cluster))].universe_size);
  }
  agreed.universe_size = universe_of(universes);
  set_limits(agreed);
  if (const double bandwidth = all.front().bandwidth; bandwidth > 0) {
    here.part_network = networks_of_room(here.world(), here.networks, bandwidth);
    ++here.choices_by;
  }
}

}  // namespace isthmus::face
