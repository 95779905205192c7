#include "mpi/making/room.hpp"

#include <chrono>
#include <optional>

#include "coll/engine/room.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/networks.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

double bandwidth_of_room() {
  const Grid& here = *grid();
  if (here.part().size() < 2 || !may_be_one_room(here.world(), here.networks)) return 0;
  const coll::Clock clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  std::optional<coll::Room> room;
  agree(here.world_comm,
        [&](coll::Party& party) { return coll::look_for_one_room(party, clock, room); },
        {.what = "a look at how far clusters are from each other",
         .failed = "the clusters could not see how far they are from each other"});
  return room ? room->bandwidth : 0;
}

}  // namespace isthmus::face
