// The work of every wait and test after the native call: statuses and errors of the requests that
// Isthmus handles.
#pragma once

#include <memory>
#include <utility>

#include "mpi/native/native.hpp"
#include "mpi/request/watch.hpp"

namespace isthmus::face {

/// The statuses that the native library fills for an array of requests: the program's or, if it
/// ignores them, ours if need be. MPICH (4.0 to 5.0) checks an array without statuses by its last
/// 64 requests. Others before those, generalized or inactive ones, then fail an assertion.
class Statuses {
 public:
  Statuses(int count, MPI_Status* given, [[maybe_unused]] bool has_others) : statuses_(given) {
#ifndef OPEN_MPI
    constexpr int kJudgedAlike = 64;
    if (given != MPI_STATUSES_IGNORE || !has_others || count <= kJudgedAlike) return;
    own_ = std::make_unique_for_overwrite<MPI_Status[]>(static_cast<std::size_t>(count));
    statuses_ = own_.get();
#else
    static_cast<void>(count);
#endif
  }
  MPI_Status* get() const { return statuses_; }

 private:
  std::unique_ptr<MPI_Status[]> own_;
  MPI_Status* statuses_;
};

/// The result of a wait or test, with the error that is yet to be raised. The caller raises it when
/// all else of its call is gone, as the program's handler may leave by longjmp.
class Ending {
 public:
  /// Raises nothing.
  explicit Ending(int code) : code_(code) {}
  /// Raises `complaint`, if it has an error that is not raised, and returns `code`.
  Ending(Complaint complaint, int code) : code_(code), complaint_(std::move(complaint)) {}

  int raised(const char* function) const;

 private:
  int code_;
  Complaint complaint_;
};

/// A call ends by the error of a request that stays active (Watch::pending).
Ending end_pending(const Watch::Pending& pending);
/// The same for one that completes some: that one is reported, with its error in its status.
Ending report_pending(const Watch::Pending& pending, int* done, int* indices, MPI_Status* statuses);
/// The same for one that completes all: tests each request by itself, after the Watch has ended.
int test_each(int count, MPI_Request* requests, MPI_Status* statuses);

/// One request, at `index` (or MPI_UNDEFINED), has completed natively with `code`.
Ending finish_one(Watch& watch, int index, int code, MPI_Status* status);

/// All `count` requests have completed; with an error in `code`, those whose handle is gone.
Ending finish_all(Watch& watch, int code, int count, const MPI_Request* requests,
                  MPI_Status* statuses);

/// `done` (or MPI_UNDEFINED) requests have completed, those at `indices`, in that order.
Ending finish_some(Watch& watch, int code, int done, const int* indices, MPI_Status* statuses);

}  // namespace isthmus::face
