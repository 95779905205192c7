// MPI-4.1 section 3.10: send and receive at once.
#include "mpi/datatype/formats.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Arguments of one side.
template <class Buffer, class Count>
struct Side {
  Buffer buffer;
  Count count;
  MPI_Datatype type;
  int rank;
  int tag;
};

/// The native rank of a member of this cluster, or of MPI_PROC_NULL. False for all others.
bool native_rank(const GridComm& g, int rank, int* native_rank) {
  *native_rank = rank == MPI_PROC_NULL ? rank : g.native_rank_of(rank);
  return rank == MPI_PROC_NULL || *native_rank >= 0;
}

/// Both sides begun; null and *code on an error.
template <class Count>
std::unique_ptr<Operation> exchange(GridComm& g, const Side<const void*, Count>& out,
                                    const Side<void*, Count>& in, const char* function, int* code) {
  *code = check_rank(g, out.rank, false, function);
  if (*code != MPI_SUCCESS) return nullptr;
  auto receive = start_receive(g, in.buffer, in.count, in.type, in.rank, in.tag, function, code);
  if (!receive) return nullptr;
  std::unique_ptr<Operation> send;
  try {
    send = start_send<Mode::Standard>(g, out.buffer, out.count, out.type, out.rank, out.tag,
                                      function, code);
  } catch (...) {
    abandon(std::move(receive));
    throw;
  }
  if (!send) {
    abandon(std::move(receive));
    return nullptr;
  }
  return std::make_unique<Exchange>(g.native, std::move(send), std::move(receive));
}

template <class Count>
int sendrecv(const Side<const void*, Count>& out, Side<void*, Count> in, MPI_Comm comm,
             MPI_Status* status, const char* function) {
  GridComm* const g = message_comm(comm);
  in.rank = only_source(g, in.rank);
  if (may_block()) {
    int to = out.rank;
    int from = in.rank;
    if (g == nullptr || (native_rank(*g, out.rank, &to) && native_rank(*g, in.rank, &from))) {
      if (g != nullptr) note_receive(*g, in.rank, in.tag);
      const int code =
          ISTHMUS_NATIVE(Sendrecv, Count)(out.buffer, out.count, out.type, to, out.tag, in.buffer,
                                          in.count, in.type, from, in.tag, comm, status);
      if (g != nullptr && status != MPI_STATUS_IGNORE) status->MPI_SOURCE = in.rank;
      return code;
    }
  }
  if (g == nullptr) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = ISTHMUS_NATIVE(Irecv, Count)(in.buffer, in.count, in.type, in.rank, in.tag, comm,
                                            &requests[0]);
    if (code == MPI_SUCCESS) {
      code = ISTHMUS_NATIVE(Isend, Count)(out.buffer, out.count, out.type, out.rank, out.tag, comm,
                                          &requests[1]);
    }
    const int received = requests[0] == MPI_REQUEST_NULL || code != MPI_SUCCESS
                             ? code
                             : wait_native(&requests[0], status);
    if (requests[1] != MPI_REQUEST_NULL) wait_native(&requests[1], MPI_STATUS_IGNORE);
    return code != MPI_SUCCESS ? code : received;
  }
  return shielded(comm, function, [&]() -> int {
    require_unrevoked(*g);
    int code = MPI_SUCCESS;
    const auto operation = exchange(*g, out, in, function, &code);
    return operation ? complete(*operation, status, function) : code;
  });
}

/// The send of an exchange in one buffer: a packed copy, sent as bytes.
class Replacing final : public Operation {
 public:
  Replacing(GridComm& g, Outgoing copy, std::unique_ptr<Operation> inner)
      : copy_(std::move(copy)), inner_(std::move(inner)) {
    comm = g.native;
  }
  bool advance() override {
    inner_->blocking = blocking;
    if (!inner_->advance()) return false;
    result = inner_->result;
    return true;
  }
  void cancel() override { inner_->cancel(); }
  int pending_error() override { return inner_->pending_error(); }

 private:
  Outgoing copy_;
  std::unique_ptr<Operation> inner_;
};

template <class Count>
Count size_of(const Outgoing& packed) {
  const auto size = static_cast<MPI_Count>(packed.bytes().size());
  if (std::is_same_v<Count, int> && !fits_int(size)) {
    throw MpiError(MPI_ERR_COUNT,
                   "messages over 2 GiB cannot be exchanged in one buffer; use MPI_Sendrecv");
  }
  return static_cast<Count>(size);
}

template <class Count>
std::unique_ptr<Operation> replace(GridComm& g, void* buffer, Count count, MPI_Datatype type,
                                   int destination, int send_tag, int source, int receive_tag,
                                   const char* function, int* code) {
  *code = check_send<Mode::Standard>(buffer, count, type, send_tag, g.native);
  if (*code != MPI_SUCCESS) return nullptr;
  Outgoing copy(buffer, count, type, Copy::Always);
  *code = check_rank(g, destination, false, function);
  if (*code != MPI_SUCCESS) return nullptr;
  change_for(g, destination, copy);  // by its datatype; it goes as bytes
  const Side<const void*, Count> out{copy.bytes().data(), size_of<Count>(copy), MPI_BYTE,
                                     destination, send_tag};
  const Side<void*, Count> in{buffer, count, type, source, receive_tag};
  auto inner = exchange(g, out, in, function, code);
  if (!inner) return nullptr;
  return std::make_unique<Replacing>(g, std::move(copy), std::move(inner));
}

template <class Count>
int sendrecv_replace(void* buffer, Count count, MPI_Datatype type, int destination, int send_tag,
                     int source, int receive_tag, MPI_Comm comm, MPI_Status* status,
                     const char* function) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  int to = destination;
  int from = source;
  const bool blocking = may_block();
  if (blocking && g == nullptr) {
    return ISTHMUS_NATIVE(Sendrecv_replace, Count)(buffer, count, type, destination, send_tag,
                                                   source, receive_tag, comm, status);
  }
  if (g == nullptr) {
    return shielded(comm, function, [&]() -> int {
      const int code = check_send<Mode::Standard>(buffer, count, type, send_tag, comm);
      if (code != MPI_SUCCESS) return code;
      const Outgoing copy(buffer, count, type, Copy::Always);
      return sendrecv<Count>(
          {copy.bytes().data(), size_of<Count>(copy), MPI_BYTE, destination, send_tag},
          {buffer, count, type, source, receive_tag}, comm, status, function);
    });
  }
  if (blocking && native_rank(*g, destination, &to) && native_rank(*g, source, &from)) {
    const Inside inside;  // Open MPI calls PMPI_Sendrecv, with ranks that are native already
    note_receive(*g, source, receive_tag);
    const int code = ISTHMUS_NATIVE(Sendrecv_replace, Count)(buffer, count, type, to, send_tag,
                                                             from, receive_tag, comm, status);
    if (status != MPI_STATUS_IGNORE) status->MPI_SOURCE = source;
    return code;
  }
  return shielded(comm, function, [&]() -> int {
    require_unrevoked(*g);
    int code = MPI_SUCCESS;
    const auto operation = replace(*g, buffer, count, type, destination, send_tag, source,
                                   receive_tag, function, &code);
    return operation ? complete(*operation, status, function) : code;
  });
}

template <class Count>
int sendrecv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status, const char* function) {
  return sendrecv<Count>({sendbuf, sendcount, sendtype, dest, sendtag},
                         {recvbuf, recvcount, recvtype, source, recvtag}, comm, status, function);
}

#ifdef ISTHMUS_HAS_Isendrecv
template <class Count>
int isendrecv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
              void* recvbuf, Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
              MPI_Comm comm, MPI_Request* request, const char* function) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  if (g == nullptr) {
    return ISTHMUS_NATIVE(Isendrecv, Count)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                            recvcount, recvtype, source, recvtag, comm, request);
  }
  if (is_revoked(g)) return request_on_revoked(*g, function, request);
  return shielded(comm, function, [&]() -> int {
    int code = MPI_SUCCESS;
    auto operation =
        exchange<Count>(*g, {sendbuf, sendcount, sendtype, dest, sendtag},
                        {recvbuf, recvcount, recvtype, source, recvtag}, function, &code);
    return operation ? make_request(std::move(operation), request) : code;
  });
}

template <class Count>
int isendrecv_replace(void* buffer, Count count, MPI_Datatype type, int dest, int sendtag,
                      int source, int recvtag, MPI_Comm comm, MPI_Request* request,
                      const char* function) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  if (g == nullptr) {
    return ISTHMUS_NATIVE(Isendrecv_replace, Count)(buffer, count, type, dest, sendtag, source,
                                                    recvtag, comm, request);
  }
  if (is_revoked(g)) return request_on_revoked(*g, function, request);
  return shielded(comm, function, [&]() -> int {
    int code = MPI_SUCCESS;
    auto operation =
        replace(*g, buffer, count, type, dest, sendtag, source, recvtag, function, &code);
    return operation ? make_request(std::move(operation), request) : code;
  });
}
#endif

}  // namespace

#include "sendrecv_entries.inc"

}  // namespace isthmus::face
