#include "mpi/making/channels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/making/comm_split.hpp"
#include "mpi/native/face.hpp"
#include "net/door/host_addresses.hpp"

namespace isthmus::face {
namespace {

/// Its messages take the channel's link between clusters that have it.
void give_link(MPI_Comm comm, const std::string& link, const core::World& world) {
  const auto is_it = [&](const core::NamedLink& each) { return each.name == link; };
  const GridCommRef found = share_comm(comm);
  if (found && std::ranges::any_of(world.named, is_it)) found->choose_link(world.choice_of(link));
}

}  // namespace

void make_channels(Grid& grid) {
  const core::World& world = grid.world();
  if (world.clusters[grid.cluster].part != 0 || grid.part().size() < 2) return;
  std::vector<int> colours;
  colours.reserve(world.channels.size());
  for (const core::GridChannel& channel : world.channels) {
    colours.push_back(channel.has(grid.cluster, net::host_name()) ? 0 : MPI_UNDEFINED);
  }
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const core::GridChannel& channel = world.channels[i];
    MPI_Comm comm = MPI_COMM_NULL;
    if (split(grid.world_comm, colours[i], 0, nullptr, &comm) != MPI_SUCCESS) {
      throw std::runtime_error("the communicator of channel \"" + channel.name +
                               "\" could not be made");
    }
    grid.channels.push_back(comm);
    if (comm == MPI_COMM_NULL) continue;
    native.Comm_set_name(comm, ("channel " + channel.name).c_str());
    give_link(comm, channel.link, world);
  }
}

void free_channels(Grid& grid) {
  for (MPI_Comm comm : grid.channels) {
    if (comm == MPI_COMM_NULL) continue;
    unregister_comm(comm);
    native.Comm_free(&comm);
  }
  grid.channels.clear();
}

}  // namespace isthmus::face
