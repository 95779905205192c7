#include "mpi/making/intercomm.hpp"

#include <string>
#include <vector>

#include "mpi/comm/group.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/from_group.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/native_group.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// Both sides in one cluster: `both` is the peer of two halves of itself.
int native_intercomm(const Sides& sides, MPI_Comm both, MPI_Comm* result) {
  const int first_size = (sides.local_first() ? sides.local : sides.remote).size();
  const int remote_leader = sides.local_first() ? first_size : 0;
  MPI_Comm side = MPI_COMM_NULL;
  const auto split = [&] {
    const NativeCreation creation;
    return parked(native.Comm_split, both, sides.local_first() ? 0 : 1, 0, &side);
  };
  if (const int code = split(); code != MPI_SUCCESS) return code;
  const NativeCreation creation;
  const int code = parked(native.Intercomm_create, side, 0, both, remote_leader, 0, result);
  native.Comm_free(&side);
  return code;
}

/// A tag for native_part_of: others may be under way on other threads.
int tag_of(std::uint64_t context) {
  const std::uint64_t mixed = (context >> 32) * 0x9E37 + (context >> 1);
  return static_cast<int>(mixed % static_cast<std::uint64_t>(grid()->shadow->tag_upper_bound));
}

}  // namespace

int finish_intercomm(const Sides& sides, std::uint64_t context, MPI_Comm native_part,
                     const SessionRef& session, MPI_Comm* result) {
  settle_handles();
  if (within_cluster(sides.local) && within_cluster(sides.remote)) {
    const Inside inside;
    const int code = native_intercomm(sides, native_part, result);
    native.Comm_free(&native_part);
    settle_handles();
    return code;
  }
  try {
    register_intercomm(sides, context, native_part,
                       agree_on_tags(context, clusters_of(sides.whole()), native_part), session);
  } catch (...) {
    native.Comm_free(&native_part);
    throw;
  }
  *result = native_part;
  return MPI_SUCCESS;
}

int native_part_of(const core::Group& group, std::uint64_t context, MPI_Comm model,
                   const SessionRef& session, MPI_Comm* result) {
  const Grid& here = *grid();
  std::vector<int> local;
  for (const int member : group.nodes()) {
    if (const int rank = here.native_of(member); rank >= 0) local.push_back(rank);
  }
  const Inside inside;
  MPI_Group members = MPI_GROUP_NULL;
  int code = native.Group_incl(native_world_of(session), static_cast<int>(local.size()),
                               local.data(), &members);
  if (code != MPI_SUCCESS) return code;
  const bool of_session = session && sessions_have_buffers();
  if (of_session) {
    const NativeCreation creation;
    code = native_from_group(members, "isthmus-intercomm-" + std::to_string(context), result);
  } else {
    code = create_native_group(MPI_COMM_WORLD, session, members, context, tag_of(context), result);
  }
  native.Group_free(&members);
  if (of_session) require_success(code, kNotMadeNatively);
  if (code != MPI_SUCCESS) return code;
  inherit_handler(model, *result);
  return MPI_SUCCESS;
}

core::Group group_of_comm(MPI_Comm comm) {
  if (const GridComm* const found = find_comm(comm)) return own_group(*found);
  const Inside inside;
  MPI_Group handle = MPI_GROUP_NULL;
  if (native.Comm_group(comm, &handle) != MPI_SUCCESS) {
    throw MpiError(MPI_ERR_COMM, "the communicator has no group");
  }
  core::Group group = group_of(handle);
  native.Group_free(&handle);
  return group;
}

}  // namespace isthmus::face
