// MPI-4.1 section 3.6: buffers for MPI_Bsend.
#include "mpi/p2p/bsend.hpp"

#include <algorithm>
#include <compare>
#include <list>
#include <map>
#include <string>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "mpi/p2p/p2p.hpp"

namespace isthmus::face {
namespace {

// The least that the libraries of one ABI make their programs allow for each message: 88 bytes with
// Intel MPI, 96 with MPICH, which may be the one compiled with (2026-11).
constexpr std::uint64_t kOverhead = std::min<std::uint64_t>(MPI_BSEND_OVERHEAD, 88);

struct Buffer {
  std::uint64_t size = 0;
  bool automatic = false;
  std::list<std::pair<std::uint64_t, SendOperation>> sends;  // with the charge of each

  std::uint64_t reap() {
    std::uint64_t used = 0;
    for (auto it = sends.begin(); it != sends.end();) {
      if (it->second.advance()) {
        it = sends.erase(it);
      } else {
        used += it->first;
        ++it;
      }
    }
    return used;
  }
};

/// The owner of a buffer: the process, a session or a grid communicator.
struct Owner {
  std::uintptr_t session = 0;  // the address of its GridSession
  std::uintptr_t comm = 0;     // the key of its handle
  auto operator<=>(const Owner&) const = default;
};
Owner owner(MPI_Comm comm) { return {0, key(comm)}; }
Owner owner(const SessionRef& session) {
  return {reinterpret_cast<std::uintptr_t>(session.get()), 0};
}
constexpr Owner kProcess{};

core::Mutex mutex;
std::map<Owner, Buffer> buffers GUARDED_BY(mutex);

Buffer* find(const Owner& of) REQUIRES(mutex) {
  const auto at = buffers.find(of);
  return at == buffers.end() ? nullptr : &at->second;
}

struct Serving {
  Buffer& buffer;
  const char* attach;  // the function that attaches a larger one
};

/// The buffer that serves a communicator: its own, else its session's, else the process's.
Serving serving(const GridComm& g) REQUIRES(mutex) {
  if (Buffer* const own = find(owner(g.native))) return {*own, "MPI_Comm_attach_buffer"};
  Buffer* const of_session = g.session ? find(owner(g.session)) : nullptr;
  if (of_session != nullptr) return {*of_session, "MPI_Session_attach_buffer"};
  return {buffers[kProcess], "MPI_Buffer_attach"};
}

bool is_automatic([[maybe_unused]] const void* buffer) {
#ifdef MPI_BUFFER_AUTOMATIC
  return buffer == MPI_BUFFER_AUTOMATIC;
#else
  return false;
#endif
}

template <class Count>
int attached(const Owner& of, int code, const void* buffer, Count size) {
  if (code != MPI_SUCCESS || inner_call()) return code;
  const core::Lock lock(mutex);
  Buffer& entry = buffers[of];
  entry.size = static_cast<std::uint64_t>(size);
  entry.automatic = is_automatic(buffer);
  return code;
}

bool drained(const Owner& of) {
  const core::Lock lock(mutex);
  Buffer* const buffer = find(of);
  if (buffer == nullptr) return true;
  buffer->reap();
  return buffer->sends.empty();
}

/// Waits until every buffered send charged to the buffer has been taken by the engine.
void drain(const Owner& of) {
  if (!native_call()) wait_until([of] { return drained(of); });
}

int detached(const Owner& of, int code) {
  if (code != MPI_SUCCESS || inner_call()) return code;
  const core::Lock lock(mutex);
  if (of == kProcess) {
    buffers[of].size = 0;
    buffers[of].automatic = false;
  } else {
    buffers.erase(of);
  }
  return code;
}

}  // namespace

void send_buffered(const GridComm& g, Outgoing outgoing, int destination, int tag) {
  const core::Lock lock(mutex);
  const auto [buffer, attach] = serving(g);
  const std::uint64_t charge = outgoing.bytes().size() + kOverhead;
  const std::uint64_t used = buffer.reap();
  if (!buffer.automatic && used + charge > buffer.size) {
    throw MpiError(MPI_ERR_BUFFER, "the attached buffer of " + std::to_string(buffer.size) +
                                       " bytes has " + std::to_string(used) +
                                       " in use, and this message needs " + std::to_string(charge) +
                                       "; attach a larger one with " + attach);
  }
  buffer.sends.emplace_back(std::piecewise_construct, std::forward_as_tuple(charge),
                            std::forward_as_tuple(g, std::move(outgoing), destination, tag, false));
}

void buffer_of_freed(MPI_Comm comm) {
  const core::Lock lock(mutex);
  const auto at = buffers.find(owner(comm));
  if (at == buffers.end()) return;
  for (auto& [charge, send] : at->second.sends) charge = 0;
  Buffer& of_process = buffers[kProcess];
  of_process.sends.splice(of_process.sends.end(), at->second.sends);
  buffers.erase(at);
}

void buffer_of_ended(const SessionRef& session) {
  if (!session) return;
  drain(owner(session));
  detached(owner(session), MPI_SUCCESS);
}

namespace {

template <class Count>
int buffer_attach(void* buffer, Count size, const char*) {
  const int code = ISTHMUS_NATIVE(Buffer_attach, Count)(buffer, size);
  return attached(kProcess, code, buffer, size);
}
template <class Count>
int buffer_detach(void* buffer, Count* size, const char*) {
  drain(kProcess);
  return detached(kProcess, ISTHMUS_NATIVE(Buffer_detach, Count)(buffer, size));
}

}  // namespace

#ifdef ISTHMUS_HAS_Buffer_flush
namespace {

/// A flush under way: the native one, and our own sends.
class Flush final : public Operation {
 public:
  Flush(const Owner& of, MPI_Request request) : native_(MPI_COMM_NULL, request), of_(of) {}
  bool advance() override {
    if (!flushed_) flushed_ = native_.advance();
    if (!flushed_ || !drained(of_)) return false;
    result.error = native_.result.error;
    result.raised = native_.result.raised;
    return true;
  }

 private:
  NativeOperation native_;
  Owner of_;
  bool flushed_ = false;
};

/// `comm`: its error handler gets errors; or MPI_COMM_NULL.
int iflush(const Owner& of, MPI_Comm comm, int code, MPI_Request* request) {
  if (code != MPI_SUCCESS || native_call() || drained(of)) return code;
  auto flush = std::make_unique<Flush>(of, *request);
  flush->comm = comm;
  return make_request(std::move(flush), request);
}

/// Null if the program uses no sets of the grid.
SessionRef known_session(MPI_Session session) {
  return native_call() ? nullptr : grid_session(session);
}

template <class Count>
int comm_attach_buffer(MPI_Comm comm, void* buffer, Count size, const char*) {
  const int code = ISTHMUS_NATIVE(Comm_attach_buffer, Count)(comm, buffer, size);
  return grid_comm(comm) == nullptr ? code : attached(owner(comm), code, buffer, size);
}
template <class Count>
int comm_detach_buffer(MPI_Comm comm, void* buffer, Count* size, const char*) {
  const auto natively = ISTHMUS_NATIVE(Comm_detach_buffer, Count);
  if (grid_comm(comm) == nullptr) return natively(comm, buffer, size);
  drain(owner(comm));
  return detached(owner(comm), natively(comm, buffer, size));
}

// A session's buffer serves messages inside the cluster natively.
template <class Count>
int session_attach_buffer(MPI_Session session, void* buffer, Count size, const char*) {
  const int code = ISTHMUS_NATIVE(Session_attach_buffer, Count)(session, buffer, size);
  const SessionRef of = code == MPI_SUCCESS ? known_session(session) : nullptr;
  return of ? attached(owner(of), code, buffer, size) : code;
}
template <class Count>
int session_detach_buffer(MPI_Session session, void* buffer, Count* size, const char*) {
  const auto natively = ISTHMUS_NATIVE(Session_detach_buffer, Count);
  const SessionRef of = known_session(session);
  if (!of) return natively(session, buffer, size);
  drain(owner(of));
  return detached(owner(of), natively(session, buffer, size));
}

}  // namespace

ISTHMUS_MPI(Buffer_flush)() {
  drain(kProcess);
  return native.Buffer_flush();
}
ISTHMUS_MPI(Buffer_iflush)(MPI_Request* request) {
  return iflush(kProcess, MPI_COMM_NULL, native.Buffer_iflush(request), request);
}

ISTHMUS_MPI(Comm_flush_buffer)(MPI_Comm comm) {
  if (grid_comm(comm) != nullptr) drain(owner(comm));
  return native.Comm_flush_buffer(comm);
}
ISTHMUS_MPI(Comm_iflush_buffer)(MPI_Comm comm, MPI_Request* request) {
  const int code = native.Comm_iflush_buffer(comm, request);
  return grid_comm(comm) == nullptr ? code : iflush(owner(comm), comm, code, request);
}

ISTHMUS_MPI(Session_flush_buffer)(MPI_Session session) {
  if (const SessionRef of = known_session(session)) drain(owner(of));
  return native.Session_flush_buffer(session);
}
ISTHMUS_MPI(Session_iflush_buffer)(MPI_Session session, MPI_Request* request) {
  const int code = native.Session_iflush_buffer(session, request);
  const SessionRef of = code == MPI_SUCCESS ? known_session(session) : nullptr;
  return of ? iflush(owner(of), MPI_COMM_NULL, code, request) : code;
}
#endif

#include "bsend_entries.inc"

}  // namespace isthmus::face
