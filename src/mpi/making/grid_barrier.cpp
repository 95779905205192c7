#include "mpi/making/grid_barrier.hpp"

#include <deque>

#include "mpi/comm/comm.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

/// In MPI_Finalize only this thread may call MPI, so it advances outstanding operations itself.
void cluster_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  native.Ibarrier(comm, &request);
  wait_until([&] {
    int done = 1;
    native.Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

}  // namespace

void grid_barrier(Grid& grid) {
  const Inside inside;
  const GridComm& comm = *grid.world_comm;
  if (comm.has_company()) cluster_barrier(grid.shadow->comm);
  if (comm.native_rank == 0) {
    std::deque<core::SendOp> sends;
    std::deque<core::RecvOp> receives;
    for (const core::Cluster& other : grid.part()) {
      if (other.first == grid.first) continue;
      if (FailedClusters::all().has(grid.world().cluster_of(other.first))) continue;
      auto& recv = receives.emplace_back();
      recv.context = comm.collective_context();
      recv.source = comm.group.rank_of(other.first).value();
      recv.tag = traffic::kGridBarrier;
      recv.from = static_cast<core::NodeId>(other.first);
      grid.endpoint->recv(recv);
      auto& send = sends.emplace_back();
      send.peer = static_cast<core::NodeId>(other.first);
      send.envelope.context = comm.collective_context();
      send.envelope.source = comm.rank;
      send.envelope.tag = traffic::kGridBarrier;
      grid.endpoint->send(send);
    }
    // They also end if their cluster fails.
    for (const auto& op : sends) wait_until([&] { return op.done(); });
    for (const auto& op : receives) wait_until([&] { return op.done(); });
  }
  if (comm.has_company()) cluster_barrier(grid.shadow->comm);
}

}  // namespace isthmus::face
