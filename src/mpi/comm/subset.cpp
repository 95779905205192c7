#include "mpi/comm/subset.hpp"

#include <optional>
#include <string>

#include "coll/engine/party.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

std::vector<int> ranks_in(const GridComm& comm, const core::Group& group) {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(group.size()));
  for (int member = 0; member < group.size(); ++member) {
    const int node = group.node(member);
    const std::optional<int> rank = own_group(comm).rank_of(node);
    if (!rank) {
      const int world_rank = grid()->world().rank_of(static_cast<core::NodeId>(node));
      throw MpiError(MPI_ERR_GROUP, "rank " + std::to_string(member) +
                                        " of the group (world rank " + std::to_string(world_rank) +
                                        ") is not in the communicator");
    }
    ranks.push_back(*rank);
  }
  return ranks;
}

int refuse_group(MPI_Comm comm, const char* function) {
  return raise(comm,
               error_code(MPI_ERR_GROUP, function,
                          "the group has members in other clusters, but the communicator lies "
                          "within one"),
               function);
}

}  // namespace isthmus::face
