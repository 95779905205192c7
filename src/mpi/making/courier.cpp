#include "mpi/making/courier.hpp"

#include "core/engine/engine.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

void wait_native(MPI_Request request) {
  int code = MPI_SUCCESS;
  wait_until([&] {
    Inside inside;
    int done = 0;
    code = native.Test(&request, &done, MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS || done != 0;
  });
  if (code != MPI_SUCCESS) throw MpiError(MPI_ERR_OTHER, "a native message failed");
}

void check(int code) {
  if (code != MPI_SUCCESS) throw MpiError(MPI_ERR_OTHER, "a native message failed");
}

/// Messages that have come whole count, even if their sender has failed since.
template <class Op>
void wait(Op& op, const Lost& lost) {
  std::optional<Loss> loss;
  wait_until([&] {
    if (op.done()) return true;
    if (lost) loss = lost();
    return loss.has_value();
  });
  if (!loss && op.error == core::OpError::Failed && lost) loss = lost();
  if (!loss) return;
  if (!op.done()) grid()->endpoint->give_up(op);
  throw MpiError(loss->error_class, loss->because);
}

}  // namespace

void courier_send(const GridComm& comm, int rank, int tag, coll::ConstBytes data,
                  const Lost& lost) {
  if (comm.native_rank_of(rank) >= 0 && !may_lose()) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const Inside inside;
      check(native.Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE,
                         comm.shadow_rank_of(rank), comm.tags.courier_tag(tag), comm.tags.shadow(),
                         &request));
    }
    wait_native(request);
    return;
  }
  core::SendOp op;
  op.peer = static_cast<core::NodeId>(comm.group.node(rank));
  op.envelope.context = comm.collective_context() | traffic::kCourierContext;
  op.envelope.source = comm.rank;
  op.envelope.tag = tag;
  op.data = data;
  grid()->endpoint->send(op);
  wait(op, lost);
}

void courier_recv(const GridComm& comm, int rank, int tag, coll::Bytes data, const Lost& lost) {
  if (comm.native_rank_of(rank) >= 0 && !may_lose()) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const Inside inside;
      check(native.Irecv(data.data(), static_cast<int>(data.size()), MPI_BYTE,
                         comm.shadow_rank_of(rank), comm.tags.courier_tag(tag), comm.tags.shadow(),
                         &request));
    }
    wait_native(request);
    return;
  }
  core::RecvOp op;
  op.context = comm.collective_context() | traffic::kCourierContext;
  op.source = rank;
  op.tag = tag;
  op.from = static_cast<core::NodeId>(comm.group.node(rank));
  op.buffer = data.data();
  op.capacity = data.size();
  grid()->endpoint->recv(op);
  wait(op, lost);
}

}  // namespace isthmus::face
