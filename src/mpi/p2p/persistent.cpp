// MPI-4.1 section 3.9: persistent requests. What goes to or comes from this cluster alone is the
// native library's; the rest makes a new operation at each start.
#include <utility>

#include "mpi/p2p/p2p.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/grid_request.hpp"
#include "mpi/request/tracked.hpp"

namespace isthmus::face {
namespace {

template <Mode mode, class Count>
auto native_send_init() {
  if constexpr (mode == Mode::Standard) return ISTHMUS_NATIVE(Send_init, Count);
  if constexpr (mode == Mode::Synchronous) return ISTHMUS_NATIVE(Ssend_init, Count);
  if constexpr (mode == Mode::Buffered) return ISTHMUS_NATIVE(Bsend_init, Count);
  if constexpr (mode == Mode::Ready) return ISTHMUS_NATIVE(Rsend_init, Count);
}

template <Mode mode, class Count>
int send_init(const void* buffer, Count count, MPI_Datatype type, int destination, int tag,
              MPI_Comm comm, MPI_Request* request, const char* function) {
  GridComm* const g = grid_comm(comm);
  const int local = g == nullptr ? destination : g->native_rank_of(destination);
  if (g == nullptr || local >= 0 || destination == MPI_PROC_NULL) {
    return native_send_init<mode, Count>()(buffer, count, type, local >= 0 ? local : destination,
                                           tag, comm, request);
  }
  return shielded(comm, function, [&]() -> int {
    int code = check_rank(*g, destination, false, function);
    // Not `mode`: a buffered send is a matter of its start.
    if (code == MPI_SUCCESS) {
      code = check_send<Mode::Standard>(buffer, count, type, tag, comm);
    }
    if (code != MPI_SUCCESS) return code;
    auto kept = std::make_shared<KeptType>(type);
    return make_persistent(
        comm,
        [g = g->shared_from_this(), buffer, count, kept, destination, tag] {
          return start_remote_send<mode>(*g, Outgoing(buffer, count, kept->get(), copy_for(mode)),
                                         destination, tag);
        },
        request);
  });
}

template <class Count>
int recv_init(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request, const char* function) {
  GridComm* const g = grid_comm(comm);
  const auto native_init = ISTHMUS_NATIVE(Recv_init, Count);
  if (g == nullptr || source == MPI_PROC_NULL) {
    return native_init(buffer, count, type, source, tag, comm, request);
  }
  const int local = g->native_rank_of(source);
  if (local >= 0 && tag != MPI_ANY_TAG) {
    const int code = native_init(buffer, count, type, local, tag, comm, request);
    if (code == MPI_SUCCESS) {
      track_persistent_receive(*request, g->shared_from_this(), source, tag);
    }
    return code;
  }
  return shielded(comm, function, [&]() -> int {
    int code = check_rank(*g, source, true, function);
    if (code == MPI_SUCCESS) code = check_receive(buffer, count, type, tag, comm);
    if (code != MPI_SUCCESS) return code;
    auto kept = std::make_shared<KeptType>(type);
    return make_persistent(
        comm,
        [g = g->shared_from_this(), buffer, count, kept, source, tag, function] {
          int raised = MPI_SUCCESS;
          auto operation =
              start_receive(*g, buffer, count, kept->get(), source, tag, function, &raised);
          if (!operation) throw coll::Failure(raised, "the receive could not be started");
          return operation;
        },
        request);
  });
}

int start_native_receive(PersistentReceive& receive, MPI_Request* request) {
  const std::lock_guard lock(progress_mutex);
  receive.active = true;
  if (must_queue(*receive.comm, receive.pattern.source, receive.pattern.tag)) {
    receive.put_off = true;
    held_receives(*receive.comm).add(receive);
    return MPI_SUCCESS;
  }
  return native.Start(request);
}

int start_grid(GridRequest& record, MPI_Request* request) {
  return shielded(record.comm, "MPI_Start", [&]() -> int {
    const std::lock_guard lock(progress_mutex);
    if (record.op) throw coll::Failure(MPI_ERR_REQUEST, "the persistent request is active");
    auto operation = record.start();
    const int code = native.Start(request);
    if (code != MPI_SUCCESS) {
      abandon(std::move(operation));
      return code;
    }
    record.op = std::move(operation);
    record.finished = false;
    if (!record.op->passive && !record.advance()) activate(record);
    return MPI_SUCCESS;
  });
}

int start(MPI_Request* request) {
  const auto entry = tracked.find(key(*request));
  if (!entry || entry->kind == Tracked::Kind::Receive) return native.Start(request);
  if (entry->kind == Tracked::Kind::PersistentReceive) {
    return start_native_receive(*static_cast<PersistentReceive*>(entry->object), request);
  }
  GridRequest& record = *static_cast<GridRequest*>(entry->object);
  return record.start ? start_grid(record, request) : native.Start(request);
}

}  // namespace

ISTHMUS_MPI(Send_init)
(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Standard>(buffer, count, type, destination, tag, comm, request,
                                   "MPI_Send_init");
}
#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Send_init_c)
(const void* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Standard>(buffer, count, type, destination, tag, comm, request,
                                   "MPI_Send_init_c");
}
#endif

ISTHMUS_MPI(Ssend_init)
(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Synchronous>(buffer, count, type, destination, tag, comm, request,
                                      "MPI_Ssend_init");
}
#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Ssend_init_c)
(const void* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Synchronous>(buffer, count, type, destination, tag, comm, request,
                                      "MPI_Ssend_init_c");
}
#endif

ISTHMUS_MPI(Bsend_init)
(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Buffered>(buffer, count, type, destination, tag, comm, request,
                                   "MPI_Bsend_init");
}
#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Bsend_init_c)
(const void* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Buffered>(buffer, count, type, destination, tag, comm, request,
                                   "MPI_Bsend_init_c");
}
#endif

ISTHMUS_MPI(Rsend_init)
(const void* buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Ready>(buffer, count, type, destination, tag, comm, request,
                                "MPI_Rsend_init");
}
#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Rsend_init_c)
(const void* buffer, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return send_init<Mode::Ready>(buffer, count, type, destination, tag, comm, request,
                                "MPI_Rsend_init_c");
}
#endif

ISTHMUS_MPI(Recv_init)
(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return recv_init(buffer, count, type, source, tag, comm, request, "MPI_Recv_init");
}
#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Recv_init_c)
(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
 MPI_Request* request) {
  return recv_init(buffer, count, type, source, tag, comm, request, "MPI_Recv_init_c");
}
#endif

ISTHMUS_MPI(Start)(MPI_Request* request) {
  if (depth != 0 || tracked.empty()) return native.Start(request);
  return start(request);
}

ISTHMUS_MPI(Startall)(int count, MPI_Request requests[]) {
  if (depth != 0 || tracked.empty() || count < 0 || requests == nullptr) {
    return native.Startall(count, requests);
  }
  for (int i = 0; i < count; ++i) {
    const int code = start(&requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
