// MPI-4.1 sections 3.2.1, 3.4 and 3.7.2: blocking and non-blocking sends.
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

template <Mode mode, class Count>
[[gnu::noinline]] int send_remote(GridComm& g, const void* buffer, Count count, MPI_Datatype type,
                                  int destination, int tag, const char* function) {
  return shielded(g.native, function, [&]() -> int {
    require_unrevoked(g);
    int code = check_rank(g, destination, false, function);
    if (code == MPI_SUCCESS) code = check_send<mode>(buffer, count, type, tag, g.native);
    if (code != MPI_SUCCESS) return code;
    if constexpr (mode == Mode::Buffered) {
      send_buffered(g, Outgoing(buffer, count, type, Copy::Always), destination, tag);
      return MPI_SUCCESS;
    } else {
      SendOperation operation(g, Outgoing(buffer, count, type, copy_for(mode)), destination, tag,
                              mode == Mode::Synchronous);
      return complete(operation, MPI_STATUS_IGNORE, function);
    }
  });
}

// While operations of ours need this thread.
template <Mode mode, class Count>
[[gnu::noinline]] int send_pumping(const void* buffer, Count count, MPI_Datatype type,
                                   int destination, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      native_isend<mode, Count>()(buffer, count, type, destination, tag, comm, &request);
  return code == MPI_SUCCESS ? wait_native(&request, MPI_STATUS_IGNORE) : code;
}

// Inside this cluster, in a run whose clusters may fail: a revocation must end it.
template <Mode mode, class Count>
[[gnu::noinline]] int send_watched(GridComm& g, const void* buffer, Count count, MPI_Datatype type,
                                   int destination, int tag, const char* function) {
  return shielded(g.native, function, [&]() -> int {
    require_unrevoked(g);
    int code = MPI_SUCCESS;
    const auto operation =
        start_send<mode>(g, buffer, count, type, destination, tag, function, &code);
    return operation ? complete(*operation, MPI_STATUS_IGNORE, function) : code;
  });
}

template <Mode mode, class Count>
[[gnu::noinline]] int send_anywhere(const void* buffer, Count count, MPI_Datatype type,
                                    int destination, int tag, MPI_Comm comm, const char* function) {
  if (GridComm* const g = message_comm(comm)) {
    const int local = g->native_rank_of(destination);
    if (local < 0 && destination != MPI_PROC_NULL) {
      return send_remote<mode>(*g, buffer, count, type, destination, tag, function);
    }
    if (mode != Mode::Buffered && local >= 0 && may_lose()) {
      return send_watched<mode>(*g, buffer, count, type, destination, tag, function);
    }
    if (is_revoked(g)) return refuse_revoked(*g, function);
    if (local >= 0) destination = local;
  }
  if (mode != Mode::Buffered && !may_block()) {
    return send_pumping<mode>(buffer, count, type, destination, tag, comm);
  }
  return native_send<mode, Count>()(buffer, count, type, destination, tag, comm);
}

template <Mode mode, class Count>
int send(const void* buffer, Count count, MPI_Datatype type, int destination, int tag,
         MPI_Comm comm, const char* function) {
  const int local = plain_rank(comm, destination);
  if (local < 0) {
    return send_anywhere<mode>(buffer, count, type, destination, tag, comm, function);
  }
  return native_send<mode, Count>()(buffer, count, type, local, tag, comm);
}

template <Mode mode, class Count>
int isend_remote(GridComm& g, const void* buffer, Count count, MPI_Datatype type, int destination,
                 int tag, MPI_Request* request, const char* function) {
  return shielded(g.native, function, [&]() -> int {
    int code = check_rank(g, destination, false, function);
    if (code == MPI_SUCCESS) code = check_send<mode>(buffer, count, type, tag, g.native);
    if (code != MPI_SUCCESS) return code;
    auto operation =
        start_remote_send<mode>(g, Outgoing(buffer, count, type, copy_for(mode)), destination, tag);
    // The send is complete, so return a native request to MPI_PROC_NULL, which is complete too.
    if (mode != Mode::Synchronous && operation->advance() &&
        operation->result.error == MPI_SUCCESS) {
      return native.Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, g.native, request);
    }
    return make_request(std::move(operation), request);
  });
}

template <Mode mode, class Count>
int isend(const void* buffer, Count count, MPI_Datatype type, int destination, int tag,
          MPI_Comm comm, MPI_Request* request, const char* function) {
  if (GridComm* const g = message_comm(comm)) {
    if (is_revoked(g)) return request_on_revoked(*g, function, request);
    const int local = g->native_rank_of(destination);
    if (local < 0 && destination != MPI_PROC_NULL) {
      return isend_remote<mode>(*g, buffer, count, type, destination, tag, request, function);
    }
    if (mode != Mode::Buffered && local >= 0 && may_lose()) {
      return shielded(comm, function, [&]() -> int {
        int code = MPI_SUCCESS;
        auto operation =
            start_send<mode>(*g, buffer, count, type, destination, tag, function, &code);
        return operation ? make_request(std::move(operation), request) : code;
      });
    }
    if (local >= 0) destination = local;
  }
  return native_isend<mode, Count>()(buffer, count, type, destination, tag, comm, request);
}

}  // namespace

#include "send_entries.inc"

}  // namespace isthmus::face
