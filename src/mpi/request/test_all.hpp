// Testing all requests of an array again and again, until they have completed.
#pragma once

#include <vector>

#include "mpi/native/native.hpp"
#include "mpi/request/watch.hpp"

namespace isthmus::face {

/// native.Testall. MPICH's (4.0 to 5.0) fails if one of the requests is partitioned. There those
/// are tested one by one, and then the others without them.
class TestAll {
 public:
  TestAll(Watch& watch, int count, MPI_Request* requests, MPI_Status* statuses)
      : count_(count), requests_(requests), statuses_(statuses) {
#ifndef OPEN_MPI
    for (const Watch::Seen& seen : watch.seen()) {
      if (seen.entry.object != nullptr && seen.entry.object->partitioned()) {
        apart_.push_back(seen.index);
      }
    }
    if (!apart_.empty()) others_.assign(requests, requests + count);
    for (const int index : apart_) others_[static_cast<std::size_t>(index)] = MPI_REQUEST_NULL;
#else
    static_cast<void>(watch);
#endif
  }

  int operator()(int* flag) {
    if (apart_.empty()) return native.Testall(count_, requests_, flag, statuses_);
    *flag = 0;
    for (const int index : apart_) {
      int one = 0;
      const int code = native.Request_get_status(requests_[index], &one, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS || one == 0) return code;
    }
    int code = native.Testall(count_, others_.data(), flag, statuses_);
    if (*flag == 0) return code;
    for (int i = 0; i < count_; ++i) {
      if (others_[static_cast<std::size_t>(i)] == MPI_REQUEST_NULL) finished(i);
    }
    for (const int index : apart_) {
      MPI_Status* const status =
          statuses_ == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses_ + index;
      if (const int one = native.Wait(&requests_[index], status); code == MPI_SUCCESS) code = one;
    }
    return code;
  }

 private:
  /// The native library has taken the copy of a handle away: the program's goes, too.
  void finished(int index) {
    for (const int other : apart_) {
      if (other == index) return;
    }
    requests_[index] = MPI_REQUEST_NULL;
  }

  int count_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  std::vector<int> apart_;           // the places of the partitioned ones
  std::vector<MPI_Request> others_;  // all but those, if there are any
};

}  // namespace isthmus::face
