// MPI-4.1 section 3.6: buffers for MPI_Bsend.
#include "mpi/p2p/bsend.hpp"

#include <list>
#include <map>
#include <mutex>
#include <string>

#include "coll/engine/party.hpp"
#include "mpi/p2p/p2p.hpp"

namespace isthmus::face {
namespace {

struct Buffer {
  std::uint64_t size = 0;
  bool automatic = false;
  std::list<std::pair<std::uint64_t, SendOperation>> sends;  // with what each is charged

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

std::mutex mutex;
Buffer of_process;
std::map<std::uintptr_t, Buffer> of_comm;  // buffers attached to grid communicators

Buffer* find(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return &of_process;
  const auto at = of_comm.find(key(comm));
  return at == of_comm.end() ? nullptr : &at->second;
}

bool is_automatic([[maybe_unused]] const void* buffer) {
#ifdef MPI_BUFFER_AUTOMATIC
  return buffer == MPI_BUFFER_AUTOMATIC;
#else
  return false;
#endif
}

template <class Count>
int attached(MPI_Comm comm, int code, const void* buffer, Count size) {
  if (code != MPI_SUCCESS || inner_call()) return code;
  const std::lock_guard lock(mutex);
  Buffer& entry = comm == MPI_COMM_NULL ? of_process : of_comm[key(comm)];
  entry.size = static_cast<std::uint64_t>(size);
  entry.automatic = is_automatic(buffer);
  return code;
}

void before_detach(MPI_Comm comm) {
  if (!native_call()) drain_buffered(comm);
}

int detached(MPI_Comm comm, int code) {
  if (code != MPI_SUCCESS || inner_call()) return code;
  const std::lock_guard lock(mutex);
  if (comm == MPI_COMM_NULL) {
    of_process.size = 0;
    of_process.automatic = false;
  } else {
    of_comm.erase(key(comm));
  }
  return code;
}

}  // namespace

void send_buffered(const GridComm& g, Outgoing outgoing, int destination, int tag) {
  const std::lock_guard lock(mutex);
  Buffer* buffer = find(g.native);
  if (buffer == nullptr) buffer = &of_process;
  const std::uint64_t charge = outgoing.bytes().size() + MPI_BSEND_OVERHEAD;
  const std::uint64_t used = buffer->reap();
  if (!buffer->automatic && used + charge > buffer->size) {
    throw coll::Failure(MPI_ERR_BUFFER, "the attached buffer of " + std::to_string(buffer->size) +
                                            " bytes has " + std::to_string(used) +
                                            " in use, and this message needs " +
                                            std::to_string(charge) +
                                            "; attach a larger one with "
                                            "MPI_Buffer_attach");
  }
  buffer->sends.emplace_back(
      std::piecewise_construct, std::forward_as_tuple(charge),
      std::forward_as_tuple(g, std::move(outgoing), destination, tag, false));
}

bool buffered_drained(MPI_Comm comm) {
  const std::lock_guard lock(mutex);
  Buffer* const buffer = find(comm);
  if (buffer == nullptr) return true;
  buffer->reap();
  return buffer->sends.empty();
}

void drain_buffered(MPI_Comm comm) {
  wait_until([comm] { return buffered_drained(comm); });
}

void buffer_of_freed(MPI_Comm comm) {
  const std::lock_guard lock(mutex);
  const auto at = of_comm.find(key(comm));
  if (at == of_comm.end()) return;
  for (auto& [charge, send] : at->second.sends) charge = 0;
  of_process.sends.splice(of_process.sends.end(), at->second.sends);
  of_comm.erase(at);
}

ISTHMUS_MPI(Buffer_attach)(void* buffer, int size) {
  return attached(MPI_COMM_NULL, native.Buffer_attach(buffer, size), buffer, size);
}
ISTHMUS_MPI(Buffer_detach)(void* buffer, int* size) {
  before_detach(MPI_COMM_NULL);
  return detached(MPI_COMM_NULL, native.Buffer_detach(buffer, size));
}
#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Buffer_attach_c)(void* buffer, MPI_Count size) {
  return attached(MPI_COMM_NULL, native.Buffer_attach_c(buffer, size), buffer, size);
}
ISTHMUS_MPI(Buffer_detach_c)(void* buffer, MPI_Count* size) {
  before_detach(MPI_COMM_NULL);
  return detached(MPI_COMM_NULL, native.Buffer_detach_c(buffer, size));
}
#endif

#ifdef ISTHMUS_HAS_Buffer_flush
namespace {

/// A flush under way: the native one, and our own sends.
class Flush final : public Operation {
 public:
  Flush(MPI_Comm comm_, MPI_Request request) : native_(request), of_(comm_) { comm = comm_; }
  bool advance() override {
    if (!flushed_) flushed_ = native_.advance();
    if (!flushed_ || !buffered_drained(of_)) return false;
    result.error = native_.result.error;
    result.raised = native_.result.raised;
    return true;
  }

 private:
  NativeOperation native_;
  MPI_Comm of_;
  bool flushed_ = false;
};

int iflush(MPI_Comm comm, int code, MPI_Request* request) {
  if (code != MPI_SUCCESS || native_call() || buffered_drained(comm)) {
    return code;
  }
  return make_request(std::make_unique<Flush>(comm, *request), request);
}

}  // namespace

ISTHMUS_MPI(Buffer_flush)() {
  before_detach(MPI_COMM_NULL);
  return native.Buffer_flush();
}
ISTHMUS_MPI(Buffer_iflush)(MPI_Request* request) {
  return iflush(MPI_COMM_NULL, native.Buffer_iflush(request), request);
}

ISTHMUS_MPI(Comm_attach_buffer)(MPI_Comm comm, void* buffer, int size) {
  const int code = native.Comm_attach_buffer(comm, buffer, size);
  return grid_comm(comm) == nullptr ? code : attached(comm, code, buffer, size);
}
ISTHMUS_MPI(Comm_attach_buffer_c)(MPI_Comm comm, void* buffer, MPI_Count size) {
  const int code = native.Comm_attach_buffer_c(comm, buffer, size);
  return grid_comm(comm) == nullptr ? code : attached(comm, code, buffer, size);
}
ISTHMUS_MPI(Comm_detach_buffer)(MPI_Comm comm, void* buffer, int* size) {
  if (grid_comm(comm) == nullptr) return native.Comm_detach_buffer(comm, buffer, size);
  before_detach(comm);
  return detached(comm, native.Comm_detach_buffer(comm, buffer, size));
}
ISTHMUS_MPI(Comm_detach_buffer_c)(MPI_Comm comm, void* buffer, MPI_Count* size) {
  if (grid_comm(comm) == nullptr) return native.Comm_detach_buffer_c(comm, buffer, size);
  before_detach(comm);
  return detached(comm, native.Comm_detach_buffer_c(comm, buffer, size));
}
ISTHMUS_MPI(Comm_flush_buffer)(MPI_Comm comm) {
  if (grid_comm(comm) != nullptr) before_detach(comm);
  return native.Comm_flush_buffer(comm);
}
ISTHMUS_MPI(Comm_iflush_buffer)(MPI_Comm comm, MPI_Request* request) {
  const int code = native.Comm_iflush_buffer(comm, request);
  return grid_comm(comm) == nullptr ? code : iflush(comm, code, request);
}
#endif

}  // namespace isthmus::face
