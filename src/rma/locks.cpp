#include "rma/locks.hpp"

#include <algorithm>

namespace isthmus::rma {

void Locks::hold(const Request& request) {
  holders_.insert(request.rank);
  exclusive_ = request.type == LockType::Exclusive;
}

bool Locks::request(int rank, LockType type) {
  const bool in_turn = waiting_.empty() || type == LockType::Passing;
  if (!in_turn || !free_for(type)) {
    waiting_.push_back({rank, type});
    return false;
  }
  hold({rank, type});
  return true;
}

std::vector<int> Locks::release(int rank) {
  holders_.erase(rank);
  std::vector<int> granted;
  const auto grant = [&](const Request& request) {
    hold(request);
    granted.push_back(request.rank);
  };
  while (!waiting_.empty() && free_for(waiting_.front().type)) {
    grant(waiting_.front());
    waiting_.pop_front();
  }
  if (!free_for(LockType::Passing)) return granted;
  std::erase_if(waiting_, [&](const Request& request) {
    if (request.type != LockType::Passing) return false;
    grant(request);
    return true;
  });
  return granted;
}

std::vector<int> Locks::forget(int rank) {
  std::erase_if(waiting_, [rank](const Request& request) { return request.rank == rank; });
  return release(rank);
}

bool Locks::pass(int rank) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [rank](const Request& request) {
    return request.rank == rank && request.type != LockType::Exclusive;
  });
  if (found == waiting_.end()) return false;
  found->type = LockType::Passing;
  if (!free_for(LockType::Passing)) return false;
  hold(*found);
  waiting_.erase(found);
  return true;
}

bool Locks::waits(int rank) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [rank](const Request& request) { return request.rank == rank; });
}

}  // namespace isthmus::rma
