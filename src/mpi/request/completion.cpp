#include "mpi/request/completion.hpp"

#include "mpi/comm/raise.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

/// Collects the errors of an array of requests into MPI_ERR_IN_STATUS.
class Errors {
 public:
  Errors(int code, MPI_Status* statuses, int count)
      : code_(code), statuses_(statuses), count_(count) {}

  void add(int position, Complaint complaint) {
    if (complaint.error == MPI_SUCCESS) return;
    if (statuses_ != nullptr && code_ == MPI_SUCCESS) {
      // The native library saw no error, so it has not set them.
      for (int i = 0; i < count_; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (statuses_ != nullptr) statuses_[position].MPI_ERROR = complaint.error;
    const bool first = code_ == MPI_SUCCESS;
    if (first) code_ = MPI_ERR_IN_STATUS;
    if (!first && (!unraised_ || is_survival_error(told_.error))) return;
    if (!first && !is_survival_error(complaint.error)) return;
    unraised_ = true;
    told_ = std::move(complaint);
  }

  Ending end() && {
    if (!unraised_) return Ending(code_);
    if (!is_survival_error(told_.error)) told_.error = code_;
    told_.raised = false;
    return {std::move(told_), code_};
  }

 private:
  int code_;
  MPI_Status* statuses_;
  int count_;
  bool unraised_ = false;
  Complaint told_;  // the handler gets its error if a process has failed, as in Open MPI 5
};

}  // namespace

int Ending::raised(const char* function) const {
  if (complaint_.error != MPI_SUCCESS && !complaint_.raised) {
    raise(complaint_.comm, complaint_.owner.get(), complaint_.error, function);
  }
  return code_;
}

Ending end_pending(const Watch::Pending& pending) {
  return {pending.complaint, pending.complaint.error};
}

Ending report_pending(const Watch::Pending& pending, int* done, int* indices,
                      MPI_Status* statuses) {
  *done = 1;
  indices[0] = pending.index;
  if (statuses != MPI_STATUSES_IGNORE) statuses[0].MPI_ERROR = pending.complaint.error;
  return {pending.complaint, MPI_ERR_IN_STATUS};
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

Ending finish_one(Watch& watch, int index, int code, MPI_Status* status) {
  Watch::Seen* const seen = index == MPI_UNDEFINED ? nullptr : watch.find(index);
  if (seen == nullptr) return Ending(code);
  Complaint complaint = watch.settle(*seen, status == MPI_STATUS_IGNORE ? nullptr : status);
  if (code != MPI_SUCCESS) return Ending(code);
  const int error = complaint.error;
  return {std::move(complaint), error};
}

Ending finish_all(Watch& watch, int code, int count, const MPI_Request* requests,
                  MPI_Status* statuses) {
  if (watch.seen().empty()) return Ending(code);
  if (statuses == MPI_STATUSES_IGNORE) statuses = nullptr;
  Errors errors(code, statuses, count);
  for (Watch::Seen& seen : watch.seen()) {
    const bool pending =
        code != MPI_SUCCESS && !seen.entry.stays && requests[seen.index] != MPI_REQUEST_NULL;
    if (pending) continue;
    MPI_Status* const status = statuses == nullptr ? nullptr : statuses + seen.index;
    errors.add(seen.index, watch.settle(seen, status));
  }
  return std::move(errors).end();
}

Ending finish_some(Watch& watch, int code, int done, const int* indices, MPI_Status* statuses) {
  if (done == MPI_UNDEFINED || watch.seen().empty()) return Ending(code);
  if (statuses == MPI_STATUSES_IGNORE) statuses = nullptr;
  Errors errors(code, statuses, done);
  for (int k = 0; k < done; ++k) {
    Watch::Seen* const seen = watch.find(indices[k]);
    if (seen == nullptr) continue;
    MPI_Status* const status = statuses == nullptr ? nullptr : statuses + k;
    errors.add(k, watch.settle(*seen, status));
  }
  return std::move(errors).end();
}

}  // namespace isthmus::face
