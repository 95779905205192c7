// Who holds the lock of one process's window, and who waits for it. First come, first served:
// nobody starves, however many share it.
#pragma once

#include <deque>
#include <set>
#include <vector>

namespace isthmus::rma {

class Locks {
 public:
  /// True: `rank` holds it now. False: it waits, until release() names it.
  bool request(int rank, bool exclusive);
  /// `rank` has held it. Those who hold it from now on.
  std::vector<int> release(int rank);
  bool holds(int rank) const { return holders_.contains(rank); }
  bool waits(int rank) const;

 private:
  struct Request {
    int rank;
    bool exclusive;
  };
  bool free_for(bool exclusive) const { return holders_.empty() || (!exclusive && !exclusive_); }

  std::set<int> holders_;
  bool exclusive_ = false;  // of the one holder
  std::deque<Request> waiting_;
};

}  // namespace isthmus::rma
