// MPI-4.1 section 3.9: persistent requests. Messages within this cluster are the native library's;
// the others make a new operation at each start.
#include <utility>

#include "mpi/p2p/p2p.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/tracked.hpp"
#include "mpi/request/tracked_request.hpp"

namespace isthmus::face {
namespace {

/// A native persistent receive from a member of this cluster. While earlier wildcards could take
/// its messages, the native start is put off and the native library thinks it inactive.
class PersistentReceive final : public NativePersistent, private HeldReceive {
 public:
  PersistentReceive(MPI_Request handle, GridCommRef comm, int source, int tag)
      : NativePersistent(source),
        HeldReceive(Kind::Start, source, tag),
        handle_(handle),
        comm_(std::move(comm)) {}

  Needs poll() override { return put_off_ ? Needs::Start : Needs::Nothing; }
  int start(MPI_Request* request) override {
    const core::Lock lock(progress_mutex);
    comm_->probed.forget(pattern.source, pattern.tag);
    if (!must_queue(*comm_, pattern.source, pattern.tag)) return NativePersistent::start(request);
    active_ = true;
    put_off_ = true;
    held_receives(*comm_).add(*this);
    return MPI_SUCCESS;
  }
  int free(MPI_Request* request) override {
    start_now();
    return NativePersistent::free(request);
  }
  int cancel(MPI_Request* request) override {
    start_now();
    return native.Cancel(request);
  }

 private:
  void take(MPI_Message, const MPI_Status&) override {}
  void start() override {
    put_off_ = false;
    native.Start(&handle_);
  }
  /// Makes up for a start that was put off: later calls need an active native request.
  void start_now() {
    if (put_off_ && held_receives(*comm_).remove(*this)) start();
  }

  MPI_Request handle_;
  HandleUse comm_;
  bool put_off_ = false;
};

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
  GridComm* const g = message_comm(comm);
  const int local = g == nullptr ? destination : g->native_rank_of(destination);
  if (g == nullptr || (local >= 0 && !may_lose()) || destination == MPI_PROC_NULL) {
    return native_send_init<mode, Count>()(buffer, count, type, local >= 0 ? local : destination,
                                           tag, comm, request);
  }
  return shielded(comm, function, [&]() -> int {
    int code = check_rank(*g, destination, false, function);
    // Not `mode`: a buffered send is a matter of its start.
    if (code == MPI_SUCCESS) code = check_send<Mode::Standard>(buffer, count, type, tag, comm);
    if (code != MPI_SUCCESS) return code;
    auto kept = std::make_shared<KeptType>(count == 0 ? MPI_BYTE : type);
    return make_persistent(
        comm,
        [g = g->shared_from_this(), buffer, count, kept, destination, tag, function] {
          if (is_revoked(g.get())) return begun_on_revoked(*g, function);
          if (g->native_rank_of(destination) >= 0) {
            int raised = MPI_SUCCESS;
            auto operation = start_send<mode>(*g, buffer, count, kept->get(), destination, tag,
                                              function, &raised);
            if (!operation) throw MpiError(raised, "the send could not be started");
            return operation;
          }
          return start_remote_send<mode>(*g, Outgoing(buffer, count, kept->get(), copy_for(mode)),
                                         destination, tag);
        },
        request);
  });
}

template <class Count>
int recv_init(void* buffer, Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request, const char* function) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  const auto native_init = ISTHMUS_NATIVE(Recv_init, Count);
  if (g == nullptr || source == MPI_PROC_NULL) {
    return native_init(buffer, count, type, source, tag, comm, request);
  }
  const int local = g->native_rank_of(source);
  if (local >= 0 && tag != MPI_ANY_TAG && !may_lose()) {
    const int code = native_init(buffer, count, type, local, tag, comm, request);
    if (code == MPI_SUCCESS) {
      track_persistent(*request, std::make_unique<PersistentReceive>(
                                     *request, g->shared_from_this(), source, tag));
    }
    return code;
  }
  return shielded(comm, function, [&]() -> int {
    int code = check_rank(*g, source, true, function);
    if (code == MPI_SUCCESS) code = check_receive(buffer, count, type, tag, comm);
    if (code != MPI_SUCCESS) return code;
    auto kept = std::make_shared<KeptType>(count == 0 ? MPI_BYTE : type);
    return make_persistent(
        comm,
        [g = g->shared_from_this(), buffer, count, kept, source, tag, function] {
          if (is_revoked(g.get())) return begun_on_revoked(*g, function);
          int raised = MPI_SUCCESS;
          auto operation =
              start_receive(*g, buffer, count, kept->get(), source, tag, function, &raised);
          if (!operation) throw MpiError(raised, "the receive could not be started");
          return operation;
        },
        request);
  });
}

int start(MPI_Request* request) {
  const auto entry = tracked.find(key(*request));
  if (!entry || entry->object == nullptr) return native.Start(request);
  return entry->object->start(request);
}

}  // namespace

#include "persistent_entries.inc"

ISTHMUS_MPI(Start)(MPI_Request* request) {
  if (inner_call() || tracked.empty()) return native.Start(request);
  return start(request);
}

ISTHMUS_MPI(Startall)(int count, MPI_Request requests[]) {
  if (inner_call() || tracked.empty() || count < 0 || requests == nullptr) {
    return native.Startall(count, requests);
  }
  for (int i = 0; i < count; ++i) {
    const int code = start(&requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
