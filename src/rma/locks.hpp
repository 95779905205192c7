// The holders of the lock of one process's window, and its waiting requests. First come, first
// served, so that none starves. Ranks that may hold other locks meanwhile are an exception.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

namespace isthmus::rma {

enum class LockType : std::uint8_t {
  Shared,
  Exclusive,
  /// Shared, by a rank that may hold locks of other targets meanwhile. It passes requests that wait
  /// for an exclusive lock: behind them, two such ranks could wait for each other.
  Passing,
};

class Locks {
 public:
  /// True: `rank` holds it now. False: it waits, until release() or pass() names it.
  bool request(int rank, LockType type);
  /// Ends the lock of `rank`. Returns the ranks that hold it from now on.
  std::vector<int> release(int rank);
  /// `rank` has failed: it holds no lock and waits for none. Returns as release().
  std::vector<int> forget(int rank);
  /// A shared lock that `rank` waits for is Passing from now on. True: `rank` holds it now.
  bool pass(int rank);
  bool holds(int rank) const { return holders_.contains(rank); }
  bool waits(int rank) const;

 private:
  struct Request {
    int rank;
    LockType type;
  };
  bool free_for(LockType type) const {
    return holders_.empty() || (type != LockType::Exclusive && !exclusive_);
  }
  void hold(const Request& request);

  std::set<int> holders_;
  bool exclusive_ = false;  // of the one holder
  std::deque<Request> waiting_;
};

}  // namespace isthmus::rma
