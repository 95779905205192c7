// The templates that p2p.hpp promises.
#pragma once

#include "mpi/p2p/p2p.hpp"

namespace isthmus::face {

/// A buffered send has nothing left to do.
class DoneOperation final : public Operation {
 public:
  DoneOperation() { passive = true; }
  bool advance() override { return true; }
};

template <Mode mode>
std::unique_ptr<Operation> start_remote_send(const GridComm& g, Outgoing outgoing, int destination,
                                             int tag) {
  if constexpr (mode == Mode::Buffered) {
    send_buffered(g, std::move(outgoing), destination, tag);
    return std::make_unique<DoneOperation>();
  } else {
    return std::make_unique<SendOperation>(g, std::move(outgoing), destination, tag,
                                           mode == Mode::Synchronous);
  }
}

/// A send inside this cluster, in a run whose clusters may fail.
template <Mode mode, class Count>
std::unique_ptr<Operation> start_watched_send(GridComm& g, const void* buffer, Count count,
                                              MPI_Datatype type, int destination, int tag,
                                              int* code) {
  *code = check_send<mode>(buffer, count, type, tag, g.native);
  if (*code != MPI_SUCCESS) return nullptr;
  const int local = g.native_rank_of(destination);
  MPI_Request request = MPI_REQUEST_NULL;
  if (packed_size(count, type) > kMostCopied) {
    *code = native_isend<mode, Count>()(buffer, count, type, local, tag, g.native, &request);
    if (*code != MPI_SUCCESS) return nullptr;
    return std::make_unique<NativeOperation>(g.native, request, MPI_PROC_NULL,
                                             Watched(g, destination));
  }
  Outgoing copy(buffer, count, type, Copy::Always);
  const auto bytes = copy.bytes();
  *code = native_isend<mode, int>()(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, local,
                                    tag, g.native, &request);
  if (*code != MPI_SUCCESS) return nullptr;
  return std::make_unique<NativeOperation>(g.native, request, Watched(g, destination),
                                           std::move(copy));
}

template <Mode mode, class Count>
std::unique_ptr<Operation> start_send(GridComm& g, const void* buffer, Count count,
                                      MPI_Datatype type, int destination, int tag,
                                      const char* function, int* code) {
  *code = check_rank(g, destination, false, function);
  if (*code != MPI_SUCCESS) return nullptr;
  const int local = g.native_rank_of(destination);
  if (local >= 0 && may_lose() && mode != Mode::Buffered) {
    return start_watched_send<mode>(g, buffer, count, type, destination, tag, code);
  }
  if (local >= 0 || destination == MPI_PROC_NULL) {
    MPI_Request request = MPI_REQUEST_NULL;
    *code = native_isend<mode, Count>()(buffer, count, type, local >= 0 ? local : destination, tag,
                                        g.native, &request);
    if (*code != MPI_SUCCESS) return nullptr;
    return std::make_unique<NativeOperation>(g.native, request);
  }
  *code = check_send<mode>(buffer, count, type, tag, g.native);
  if (*code != MPI_SUCCESS) return nullptr;
  return start_remote_send<mode>(g, Outgoing(buffer, count, type, copy_for(mode)), destination,
                                 tag);
}

template <class Count>
std::unique_ptr<Operation> start_receive(GridComm& g, void* buffer, Count count, MPI_Datatype type,
                                         int source, int tag, const char* function, int* code) {
  *code = check_rank(g, source, true, function);
  if (*code != MPI_SUCCESS) return nullptr;
  const int local = g.native_rank_of(source);
  const core::Lock lock(progress_mutex);
  if (source == MPI_PROC_NULL || (local >= 0 && !must_queue(g, source, tag))) {
    note_receive(g, source, tag);
    MPI_Request request = MPI_REQUEST_NULL;
    *code = ISTHMUS_NATIVE(Irecv, Count)(buffer, count, type, local >= 0 ? local : source, tag,
                                         g.native, &request);
    if (*code != MPI_SUCCESS) return nullptr;
    return std::make_unique<NativeOperation>(g.native, request, source, Watched(g, source));
  }
  *code = check_receive(buffer, count, type, tag, g.native);
  if (*code != MPI_SUCCESS) return nullptr;
  return start_grid_receive(g, Incoming(buffer, count, type), source, tag);
}

}  // namespace isthmus::face
