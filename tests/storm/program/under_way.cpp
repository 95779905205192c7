#include <sched.h>

#include "step.hpp"

namespace storm {

MPI_Request* UnderWay::add(Done done) {
  requests_.push_back(MPI_REQUEST_NULL);
  done_.push_back(std::move(done));
  return &requests_.back();
}

void UnderWay::take(UnderWay&& others) {
  requests_.insert(requests_.end(), others.requests_.begin(), others.requests_.end());
  for (Done& done : others.done_) done_.push_back(std::move(done));
  others = {};
}

// The buffer of a completed operation may be used now, whatever else is under way.
void UnderWay::finished(std::size_t which, const MPI_Status& status) {
  if (done_[which]) done_[which](status);
}

void UnderWay::complete_by_one(Random& random) {
  const bool wait = random.chance(50), forwards = random.chance(50);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const std::size_t which = forwards ? i : requests_.size() - 1 - i;
    MPI_Status status;
    if (wait) {
      MPI_Wait(&requests_[which], &status);
    } else {
      for (int flag = 0; MPI_Test(&requests_[which], &flag, &status), !flag;) sched_yield();
    }
    finished(which, status);
  }
}

void UnderWay::complete_by_any(bool wait) {
  for (std::size_t left = requests_.size(); left > 0;) {
    int which = MPI_UNDEFINED, flag = 1;
    MPI_Status status;
    const int count = static_cast<int>(requests_.size());
    if (wait) {
      MPI_Waitany(count, requests_.data(), &which, &status);
    } else {
      MPI_Testany(count, requests_.data(), &which, &flag, &status);
    }
    if (!flag) {
      sched_yield();
      continue;
    }
    if (which == MPI_UNDEFINED) return;
    finished(static_cast<std::size_t>(which), status);
    --left;
  }
}

void UnderWay::complete_by_some(bool wait) {
  std::vector<int> which(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  for (std::size_t left = requests_.size(); left > 0;) {
    int count = 0;
    const auto call = wait ? MPI_Waitsome : MPI_Testsome;
    call(static_cast<int>(requests_.size()), requests_.data(), &count, which.data(),
         statuses.data());
    if (count == MPI_UNDEFINED) return;
    if (count == 0) sched_yield();
    for (int i = 0; i < count; ++i) {
      finished(static_cast<std::size_t>(which[i]), statuses[i]);
      --left;
    }
  }
}

void UnderWay::complete_by_all(bool wait) {
  std::vector<MPI_Status> statuses(requests_.size());
  const int count = static_cast<int>(requests_.size());
  if (wait) {
    MPI_Waitall(count, requests_.data(), statuses.data());
  } else {
    for (int flag = 0; MPI_Testall(count, requests_.data(), &flag, statuses.data()), !flag;) {
      sched_yield();
    }
  }
  for (std::size_t i = 0; i < requests_.size(); ++i) finished(i, statuses[i]);
}

void UnderWay::complete(Random& random) {
  constexpr std::size_t kFewEnoughForAny = 500;  // each of these calls looks at all requests
  const int form = requests_.size() > kFewEnoughForAny ? 2 + random.below(2) : random.below(4);
  const bool wait = random.chance(60);
  if (form == 0) complete_by_one(random);
  if (form == 1) complete_by_any(wait);
  if (form == 2) complete_by_some(wait);
  if (form == 3) complete_by_all(wait);
  *this = {};
}

}  // namespace storm
