// MPI-4.1 sections 3.2.4 and 3.7.2: blocking and non-blocking receives.
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

// Receives from another cluster, from anywhere, or from an invalid rank.
template <class Count>
[[gnu::noinline]] int receive_grid(GridComm& g, void* buffer, Count count, MPI_Datatype type,
                                   int source, int tag, MPI_Status* status, const char* function) {
  return shielded(g.native, function, [&]() -> int {
    require_unrevoked(g);
    int code = check_rank(g, source, true, function);
    if (code == MPI_SUCCESS) code = check_receive(buffer, count, type, tag, g.native);
    if (code != MPI_SUCCESS) return code;
    if (source != MPI_ANY_SOURCE) {
      ReceiveOperation operation(g, Incoming(buffer, count, type), source, tag);
      return complete(operation, status, function);
    }
    const auto operation = start_grid_receive(g, Incoming(buffer, count, type), source, tag);
    return complete(*operation, status, function);
  });
}

// While operations of ours need this thread.
template <class Count>
[[gnu::noinline]] int receive_pumping(GridComm* g, void* buffer, Count count, MPI_Datatype type,
                                      int source, int tag, MPI_Comm comm, MPI_Status* status,
                                      const char* function) {
  if (g != nullptr) {
    return shielded(comm, function, [&]() -> int {
      require_unrevoked(*g);
      int code = MPI_SUCCESS;
      const auto operation = start_receive(*g, buffer, count, type, source, tag, function, &code);
      return operation ? complete(*operation, status, function) : code;
    });
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = ISTHMUS_NATIVE(Irecv, Count)(buffer, count, type, source, tag, comm, &request);
  return code == MPI_SUCCESS ? wait_native(&request, status) : code;
}

template <class Count>
[[gnu::noinline]] int receive_anywhere(void* buffer, Count count, MPI_Datatype type, int source,
                                       int tag, MPI_Comm comm, MPI_Status* status,
                                       const char* function) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  int local = source;
  if (g != nullptr && source != MPI_PROC_NULL) {
    local = g->native_rank_of(source);
    if (local < 0) return receive_grid(*g, buffer, count, type, source, tag, status, function);
    note_receive(*g, source, tag);
  } else if (is_revoked(g)) {
    return refuse_revoked(*g, function);
  }
  if (!may_block()) {
    return receive_pumping(g, buffer, count, type, source, tag, comm, status, function);
  }
  const int code = ISTHMUS_NATIVE(Recv, Count)(buffer, count, type, local, tag, comm, status);
  if (g != nullptr && status != MPI_STATUS_IGNORE) status->MPI_SOURCE = source;
  return code;
}

template <class Count>
int receive(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Status* status, const char* function) {
  const int local = status == MPI_STATUS_IGNORE ? plain_rank(comm, source) : -1;
  if (local < 0) {
    return receive_anywhere(buffer, count, type, source, tag, comm, status, function);
  }
  return ISTHMUS_NATIVE(Recv, Count)(buffer, count, type, local, tag, comm, status);
}

template <class Count>
int ireceive(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Request* request, const char* function) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  const auto native_irecv = ISTHMUS_NATIVE(Irecv, Count);
  if (is_revoked(g)) return request_on_revoked(*g, function, request);
  if (g == nullptr || source == MPI_PROC_NULL) {
    return native_irecv(buffer, count, type, source, tag, comm, request);
  }
  const int local = g->native_rank_of(source);
  if (local >= 0 && !may_lose()) {
    std::unique_lock lock(progress_mutex, std::defer_lock);
    if (!idle()) lock.lock();
    if (!lock || !must_queue(*g, source, tag)) {
      note_receive(*g, source, tag);
      const int code = native_irecv(buffer, count, type, local, tag, comm, request);
      if (code == MPI_SUCCESS) track_receive(*request, source);
      return code;
    }
  }
  return shielded(comm, function, [&]() -> int {
    int code = MPI_SUCCESS;
    if (local >= 0 && may_lose()) {
      auto operation = start_receive(*g, buffer, count, type, source, tag, function, &code);
      return operation ? make_request(std::move(operation), request) : code;
    }
    code = check_rank(*g, source, true, function);
    if (code == MPI_SUCCESS) code = check_receive(buffer, count, type, tag, comm);
    if (code != MPI_SUCCESS) return code;
    return make_request(start_grid_receive(*g, Incoming(buffer, count, type), source, tag),
                        request);
  });
}

}  // namespace

#include "recv_entries.inc"

}  // namespace isthmus::face
