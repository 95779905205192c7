#include "mpi/making/agree_on_distance.hpp"

#include <chrono>
#include <optional>
#include <span>

#include "coll/engine/collectives.hpp"
#include "coll/engine/room.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/networks.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

void agree_on_distance() {
  Grid& here = *grid();
  if (here.part().size() < 2 || !may_be_one_room(here.world(), here.networks)) return;
  const Purpose purpose{.what = "a look at how far clusters are from each other",
                        .failed = "the clusters could not see how far they are from each other"};
  const coll::Clock clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  std::optional<coll::Room> room;
  agree(
      here.world_comm,
      [&](coll::Party& party) { return coll::look_for_one_room(party, clock, room); }, purpose);
  double bandwidth = room ? room->bandwidth : 0;  // as rank 0 has seen it
  agree(
      here.world_comm,
      [&](coll::Party& party) {
        return coll::bcast(party, std::as_writable_bytes(std::span(&bandwidth, 1)), 0);
      },
      purpose);
  if (bandwidth > 0) here.part_network = networks_of_room(here.world(), here.networks, bandwidth);
}

}  // namespace isthmus::face
