#include "rma/locks.hpp"

#include <algorithm>

namespace isthmus::rma {

bool Locks::request(int rank, bool exclusive) {
  if (!waiting_.empty() || !free_for(exclusive)) {
    waiting_.push_back({rank, exclusive});
    return false;
  }
  holders_.insert(rank);
  exclusive_ = exclusive;
  return true;
}

std::vector<int> Locks::release(int rank) {
  holders_.erase(rank);
  std::vector<int> granted;
  while (!waiting_.empty() && free_for(waiting_.front().exclusive)) {
    const Request next = waiting_.front();
    waiting_.pop_front();
    holders_.insert(next.rank);
    exclusive_ = next.exclusive;
    granted.push_back(next.rank);
  }
  return granted;
}

bool Locks::waits(int rank) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [rank](const Request& request) { return request.rank == rank; });
}

}  // namespace isthmus::rma
