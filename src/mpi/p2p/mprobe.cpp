// MPI-4.1 sections 3.8.2 and 3.8.3: matched probes and receives. A message from another cluster
// wears a native message: one of zero bytes to self, taken by a matched probe.
#include <map>
#include <optional>

#include "core/base/mutex.hpp"
#include "mpi/p2p/found.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/grid_request.hpp"

namespace isthmus::face {
namespace {

/// A message that the program holds.
struct Held {
  int source = 0;
  int bell = 0;                              // of a message from another cluster,
  MPI_Request rung = MPI_REQUEST_NULL;       // and the send to self behind its handle
  std::shared_ptr<core::Extracted> distant;  // null for native ones
  HandleUse use{nullptr};                    // and their communicator, for its handler
};

core::Mutex messages_mutex;
std::map<std::uintptr_t, Held> messages GUARDED_BY(messages_mutex);
std::atomic<std::size_t> held_messages{0};

void remember(MPI_Message message, Held held) {
  const core::Lock lock(messages_mutex);
  messages.insert_or_assign(key(message), std::move(held));
  held_messages.store(messages.size(), std::memory_order_relaxed);
}

std::optional<Held> forget(MPI_Message message) {
  const core::Lock lock(messages_mutex);
  const auto at = messages.find(key(message));
  if (at == messages.end()) return std::nullopt;
  Held held = std::move(at->second);
  messages.erase(at);
  held_messages.store(messages.size(), std::memory_order_relaxed);
  return held;
}

/// The communicator of a message from another cluster; empty for other messages.
HandleUse comm_of_distant(const MPI_Message* message) {
  if (inner_call() || held_messages.load(std::memory_order_relaxed) == 0) return HandleUse(nullptr);
  const core::Lock lock(messages_mutex);
  const auto at = messages.find(key(*message));
  return at == messages.end() ? HandleUse(nullptr) : at->second.use;
}

/// The native handle of a message from another cluster.
int wear(Found found, MPI_Comm comm, MPI_Message* message) {
  const int bell = SelfTag::acquire();
  const MPI_Comm self = grid()->self;
  // Not MPI_Send: with MPICH, that waits for the receive even of an empty message to self.
  MPI_Request rung = MPI_REQUEST_NULL;
  int code = native.Isend(nullptr, 0, MPI_BYTE, 0, bell, self, &rung);
  if (code == MPI_SUCCESS) code = native.Mprobe(0, bell, self, message, MPI_STATUS_IGNORE);
  require_success(code, "the native library gave no message handle");
  remember(*message, {found.status.MPI_SOURCE, bell, rung, std::move(found.distant),
                      HandleUse(share_comm(comm))});
  return MPI_SUCCESS;
}

int hand_over(Found found, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  give_status(found, status);
  if (found.distant) return wear(std::move(found), comm, message);
  *message = found.message;
  Held held;
  held.source = found.status.MPI_SOURCE;
  remember(*message, std::move(held));
  return MPI_SUCCESS;
}

/// Begins the receive of a message from another cluster.
template <class Count>
std::unique_ptr<Operation> begin(void* buffer, Count count, MPI_Datatype type, MPI_Comm comm,
                                 MPI_Message* message, int* code) {
  *code = check_receive(buffer, count, type, 0, comm);
  if (*code != MPI_SUCCESS) return nullptr;
  Incoming incoming(buffer, count, type);
  Held held = forget(*message).value();
  native.Mrecv(nullptr, 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
  native.Wait(&held.rung, MPI_STATUS_IGNORE);
  SelfTag::release(held.bell);
  return std::make_unique<ReceiveOperation>(comm, std::move(incoming), held.distant);
}

template <class Count>
int mrecv(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status,
          const char* function) {
  const HandleUse distant = comm_of_distant(message);
  if (distant.comm()) {
    const MPI_Comm comm = distant->native;
    return shielded(comm, function, [&]() -> int {
      int code = MPI_SUCCESS;
      const auto operation = begin(buffer, count, type, comm, message, &code);
      return operation ? complete(*operation, status, function) : code;
    });
  }
  const auto held = !inner_call() ? forget(*message) : std::nullopt;
  int code = MPI_SUCCESS;
  if (may_block()) {
    code = ISTHMUS_NATIVE(Mrecv, Count)(buffer, count, type, message, status);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    code = ISTHMUS_NATIVE(Imrecv, Count)(buffer, count, type, message, &request);
    if (code == MPI_SUCCESS) code = wait_native(&request, status);
  }
  if (held && status != MPI_STATUS_IGNORE) status->MPI_SOURCE = held->source;
  return code;
}

template <class Count>
int imrecv(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, MPI_Request* request,
           const char* function) {
  const HandleUse distant = comm_of_distant(message);
  if (distant.comm()) {
    const MPI_Comm comm = distant->native;
    return shielded(comm, function, [&]() -> int {
      int code = MPI_SUCCESS;
      auto operation = begin(buffer, count, type, comm, message, &code);
      return operation ? make_request(std::move(operation), request) : code;
    });
  }
  const auto held = !inner_call() ? forget(*message) : std::nullopt;
  const int code = ISTHMUS_NATIVE(Imrecv, Count)(buffer, count, type, message, request);
  if (held && code == MPI_SUCCESS) track_receive(*request, held->source);
  return code;
}

}  // namespace

ISTHMUS_MPI(Improbe)
(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  if (g == nullptr || source == MPI_PROC_NULL) {
    if (is_revoked(g)) return refuse_revoked(*g, "MPI_Improbe");
    if (!may_block()) pump();
    return native.Improbe(source, tag, comm, flag, message, status);
  }
  return shielded(comm, "MPI_Improbe", [&]() -> int {
    int code = check_probe(*g, source, tag, "MPI_Improbe");
    if (code != MPI_SUCCESS) return code;
    const ProbeLoss loss(*g, source, false);
    Found found = look(*g, source, tag, Take::Yes, &code);
    if (code == MPI_SUCCESS) loss.unless(found.found);
    *flag = found.found ? 1 : 0;
    return found.found ? hand_over(std::move(found), comm, message, status) : code;
  });
}

ISTHMUS_MPI(Mprobe)
(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  if (g == nullptr || source == MPI_PROC_NULL) {
    if (is_revoked(g)) return refuse_revoked(*g, "MPI_Mprobe");
    if (may_block() || source == MPI_PROC_NULL) {
      return native.Mprobe(source, tag, comm, message, status);
    }
    int code = MPI_SUCCESS;
    wait_until([&] {
      int flag = 0;
      code = native.Improbe(source, tag, comm, &flag, message, status);
      return flag != 0 || code != MPI_SUCCESS;
    });
    return code;
  }
  return shielded(comm, "MPI_Mprobe", [&]() -> int {
    int code = check_probe(*g, source, tag, "MPI_Mprobe");
    if (code != MPI_SUCCESS) return code;
    Found found;
    const auto described = waiting_for_message(*g, source, tag);
    wait_until(
        [&] {
          const ProbeLoss loss(*g, source, true);
          found = look(*g, source, tag, Take::Yes, &code);
          if (code == MPI_SUCCESS) loss.unless(found.found);
          return found.found || code != MPI_SUCCESS;
        },
        Describe(described));
    return found.found ? hand_over(std::move(found), comm, message, status) : code;
  });
}

#include "mprobe_entries.inc"

}  // namespace isthmus::face
