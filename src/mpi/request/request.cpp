#include "mpi/request/request.hpp"

#include <vector>

#include "core/base/mutex.hpp"
#include "mpi/comm/own_comm.hpp"
#include "mpi/native/thread_level.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/grid_request.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/tracked.hpp"

namespace isthmus::face {
namespace {

int query(void* extra_state, MPI_Status* status) {
  fill_status(static_cast<GridRequest*>(extra_state)->op->result, status);
  return MPI_SUCCESS;
}

// The record goes when wait, test or free of the face have seen what they need of it.
int free_nothing(void*) { return MPI_SUCCESS; }

int cancel(void* extra_state, int complete) {
  const core::Lock lock(progress_mutex);
  if (complete == 0) static_cast<GridRequest*>(extra_state)->op->cancel();
  return MPI_SUCCESS;
}

core::Mutex tags_mutex;
std::vector<int> free_tags GUARDED_BY(tags_mutex);
int next_tag GUARDED_BY(tags_mutex) = 1;

}  // namespace

int SelfTag::acquire() {
  const core::Lock lock(tags_mutex);
  if (free_tags.empty()) {
    const int most = grid()->shadow->tag_upper_bound;
    if (next_tag > most) {
      throw MpiError(MPI_ERR_OTHER,
                     "too many persistent requests and matched messages at a time: the "
                     "native MPI library has " +
                         std::to_string(most) + " tags for them");
    }
    return next_tag++;
  }
  const int tag = free_tags.back();
  free_tags.pop_back();
  return tag;
}

void SelfTag::release(int tag) {
  const core::Lock lock(tags_mutex);
  free_tags.push_back(tag);
}

bool step(Operation& op) noexcept {
  try {
    return op.advance();
  } catch (const MpiError& failure) {
    op.result.error = error_code(failure.code, "MPI", failure.what());
  } catch (const std::bad_alloc&) {
    op.result.error = MPI_ERR_NO_MEM;
  } catch (const std::exception& failure) {
    op.result.error = error_code(MPI_ERR_OTHER, "MPI", failure.what());
  }
  return true;
}

GridRequest::~GridRequest() {
  if (bell != 0) SelfTag::release(bell);
}

bool GridRequest::advance() {
  if (ended || !op) return true;
  if (!step(*op)) return false;
  ended = true;
  if (handle == MPI_REQUEST_NULL) return true;
  if (bell == 0) {
    native.Grequest_complete(handle);
  } else {
    native.Send(nullptr, 0, MPI_BYTE, 0, bell, grid()->self);
  }
  return true;
}

Needs GridRequest::poll() {
  if (!listed) advance();
  return !op || ended ? Needs::Nothing : Needs::Progress;
}

bool GridRequest::finished() {
  if (!listed) advance();
  return op && ended;
}

Complaint GridRequest::pending() {
  if (!op || ended) return {};
  return {op->pending_error(), comm, false, owner};
}

void GridRequest::describe(MPI_Status& status) const {
  if (op) fill_status(op->result, &status);
}

Complaint GridRequest::settle() {
  if (!op) return {};
  const Result result = op->result;
  Complaint complaint{result.error, comm, result.raised, owner};
  if (bell == 0) {
    delete this;
  } else {
    op.reset();
    ended = false;
  }
  return complaint;
}

int GridRequest::start(MPI_Request* request) {
  if (!begin) return native.Start(request);
  return shielded(comm, "MPI_Start", [&]() -> int {
    const core::Lock lock(progress_mutex);
    if (op) throw MpiError(MPI_ERR_REQUEST, "the persistent request is active");
    auto operation = begin();
    const int code = native.Start(request);
    if (code != MPI_SUCCESS) {
      abandon(std::move(operation));
      return code;
    }
    op = std::move(operation);
    ended = false;
    if (!op->passive && !advance()) activate(*this);
    return MPI_SUCCESS;
  });
}

int GridRequest::free(MPI_Request* request) {
  const bool active = !advance();
  const int code = native.Request_free(request);
  if (active) {
    orphan = true;  // pump() sees to its end
    activate(*this);
  } else {
    deactivate(*this);
    delete this;
  }
  return code;
}

int GridRequest::cancel(MPI_Request*) {
  if (op && !ended) op->cancel();
  return MPI_SUCCESS;
}

namespace {

/// Waits in the native library if this process waits only for its own cluster, after a while. The
/// library notices events at once, but pauses look less and less often.
bool wait_natively(Operation& op) {
  if (!idle() || threads_multiple()) return false;
  return op.block();
}

}  // namespace

int drive(Operation& op, MPI_Status* status, const char* function) {
  const auto describe = [&](WaitingFor& wait) {
    wait.call = function;
    wait.comm = op.comm;
    op.describe(wait);
  };
  op.blocking = true;
  Backoff backoff{Describe(describe)};
  for (;;) {
    if (op.passive && !op.guarded) {
      if (step(op)) break;
    } else {
      const core::Lock lock(progress_mutex);
      if (step(op)) break;
    }
    if (backoff.long_since()) {
      Backoff::send_gathered();
      if (wait_natively(op)) continue;
    }
    backoff.pause(idle() && op.near() ? &op : nullptr);
  }
  const Result& result = op.result;
  if (status != MPI_STATUS_IGNORE) fill_status(result, status);
  return result.error;
}

int complete(Operation& op, MPI_Status* status, const char* function) {
  const int code = drive(op, status, function);
  if (code != MPI_SUCCESS && !op.result.raised) throw Unraised{op.comm, code};
  return code;
}

int make_request(std::unique_ptr<Operation> operation, MPI_Request* request) {
  auto record = std::make_unique<GridRequest>();
  record->comm = operation->comm;
  record->owner = share_with_own(operation->comm);
  record->op = std::move(operation);
  const int code =
      native.Grequest_start(query, free_nothing, cancel, record.get(), &record->handle);
  if (code != MPI_SUCCESS) return code;
  *request = record->handle;
  const core::Lock lock(progress_mutex);
  GridRequest* const kept = record.release();  // wait, test or free delete it
  tracked.insert({.key = key(kept->handle), .object = kept});
  if (!kept->op->passive && !kept->advance()) activate(*kept);
  return MPI_SUCCESS;
}

void abandon(std::unique_ptr<Operation> operation) {
  const core::Lock lock(progress_mutex);
  operation->cancel();
  keep(std::move(operation));
}

void keep(std::unique_ptr<Operation> operation) {
  const core::Lock lock(progress_mutex);
  auto record = std::make_unique<GridRequest>();
  record->op = std::move(operation);
  record->orphan = true;
  activate(*record.release());
}

int make_persistent(MPI_Comm comm, std::function<std::unique_ptr<Operation>()> start,
                    MPI_Request* request) {
  auto record = std::make_unique<GridRequest>();
  record->comm = comm;
  record->owner = share_with_own(comm);
  record->begin = [start = std::move(start), use = HandleUse(record->owner)] { return start(); };
  record->bell = SelfTag::acquire();
  const int code =
      native.Recv_init(nullptr, 0, MPI_BYTE, 0, record->bell, grid()->self, &record->handle);
  if (code != MPI_SUCCESS) return raise(comm, code, "MPI_Recv_init");
  *request = record->handle;
  const MPI_Request handle = record->handle;
  track_persistent(handle, std::move(record));
  return MPI_SUCCESS;
}

void track_receive(MPI_Request request, int source) {
  tracked.insert({.key = key(request), .source = source});
}

void track_persistent(MPI_Request request, std::unique_ptr<TrackedRequest> object) {
  tracked.insert({.key = key(request), .object = object.release(), .stays = true});
}

void translate(const GridComm& comm, MPI_Status* status) {
  const int source = status->MPI_SOURCE;
  if (source >= 0 && source < static_cast<int>(comm.members.size())) {
    status->MPI_SOURCE = comm.rank_of_native(source);
  }
}

void fill_status(const Result& result, MPI_Status* status) {
  native.Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(result.bytes));
  native.Status_set_cancelled(status, result.cancelled ? 1 : 0);
  status->MPI_SOURCE = result.source;
  status->MPI_TAG = result.tag;
}

std::uint64_t bytes_of(const MPI_Status& status) {
  MPI_Count bytes = 0;
  native.Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace isthmus::face
