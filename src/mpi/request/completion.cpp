#include "mpi/request/completion.hpp"

#include "mpi/comm/raise.hpp"

namespace isthmus::face {
namespace {

/// Collects the errors of an array of requests into MPI_ERR_IN_STATUS.
class Errors {
 public:
  Errors(int code, MPI_Status* statuses, int count)
      : code_(code), statuses_(statuses), count_(count) {}

  void add(int position, const Complaint& complaint) {
    if (complaint.error == MPI_SUCCESS) return;
    if (code_ == MPI_SUCCESS) {
      code_ = MPI_ERR_IN_STATUS;
      unraised_ = true;
      comm_ = complaint.comm;
      owner_ = complaint.owner;
      // The native library saw no error, so it has not set them.
      for (int i = 0; statuses_ != nullptr && i < count_; ++i) {
        statuses_[i].MPI_ERROR = MPI_SUCCESS;
      }
    }
    if (statuses_ != nullptr) statuses_[position].MPI_ERROR = complaint.error;
  }

  int raised(const char* function) const {
    return unraised_ ? raise(comm_, owner_.get(), code_, function) : code_;
  }

 private:
  int code_;
  MPI_Status* statuses_;
  int count_;
  bool unraised_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  GridCommRef owner_;
};

}  // namespace

int raise_pending(const Watch::Pending& pending, const char* function) {
  const Complaint& of = pending.complaint;
  return raise(of.comm, of.owner.get(), of.error, function);
}

int report_pending(const Watch::Pending& pending, int* done, int* indices, MPI_Status* statuses,
                   const char* function) {
  *done = 1;
  indices[0] = pending.index;
  if (statuses != MPI_STATUSES_IGNORE) statuses[0].MPI_ERROR = pending.complaint.error;
  const Complaint& of = pending.complaint;
  return raise(of.comm, of.owner.get(), MPI_ERR_IN_STATUS, function);
}

int test_each(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < count; ++i) {
    MPI_Status unused;
    MPI_Status& status = statuses == MPI_STATUSES_IGNORE ? unused : statuses[i];
    status.MPI_ERROR = MPI_SUCCESS;
    if (requests[i] == MPI_REQUEST_NULL) continue;
    int flag = 0;
    const int code = isthmus_Test(&requests[i], &flag, &status);
    status.MPI_ERROR = code != MPI_SUCCESS || flag != 0 ? code : MPI_ERR_PENDING;
  }
  return MPI_ERR_IN_STATUS;
}

int finish_one(Watch& watch, int index, int code, MPI_Status* status, const char* function) {
  Watch::Seen* const seen = index == MPI_UNDEFINED ? nullptr : watch.find(index);
  if (seen == nullptr) return code;
  const Complaint complaint = watch.settle(*seen, status == MPI_STATUS_IGNORE ? nullptr : status);
  if (code != MPI_SUCCESS || complaint.error == MPI_SUCCESS || complaint.raised) {
    return code != MPI_SUCCESS ? code : complaint.error;
  }
  return raise(complaint.comm, complaint.owner.get(), complaint.error, function);
}

int finish_all(Watch& watch, int code, int count, const MPI_Request* requests, MPI_Status* statuses,
               const char* function) {
  if (watch.seen().empty()) return code;
  if (statuses == MPI_STATUSES_IGNORE) statuses = nullptr;
  Errors errors(code, statuses, count);
  for (Watch::Seen& seen : watch.seen()) {
    const bool pending =
        code != MPI_SUCCESS && !seen.entry.stays && requests[seen.index] != MPI_REQUEST_NULL;
    if (pending) continue;
    MPI_Status* const status = statuses == nullptr ? nullptr : statuses + seen.index;
    errors.add(seen.index, watch.settle(seen, status));
  }
  return errors.raised(function);
}

int finish_some(Watch& watch, int code, int done, const int* indices, MPI_Status* statuses,
                const char* function) {
  if (done == MPI_UNDEFINED || watch.seen().empty()) return code;
  if (statuses == MPI_STATUSES_IGNORE) statuses = nullptr;
  Errors errors(code, statuses, done);
  for (int k = 0; k < done; ++k) {
    Watch::Seen* const seen = watch.find(indices[k]);
    if (seen == nullptr) continue;
    MPI_Status* const status = statuses == nullptr ? nullptr : statuses + k;
    errors.add(k, watch.settle(*seen, status));
  }
  return errors.raised(function);
}

}  // namespace isthmus::face
