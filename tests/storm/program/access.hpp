// Puts and gets of one round on a window, and what is true before and after.
#pragma once

#include "window.hpp"

namespace storm {

struct Access {
  bool put = false;
  int origin = 0, target = 0;
  std::size_t offset = 0;  ///< in the target's memory
  std::size_t bytes = 0;   ///< in the origin's
  std::size_t block = 0;   ///< bytes in a row at the target; between two blocks there is a gap of 8
  int which = 0;

  [[nodiscard]] std::size_t blocks() const { return block == 0 ? 0 : bytes / block; }
  [[nodiscard]] std::size_t extent() const { return blocks() * (block + 8); }
  [[nodiscard]] std::size_t offset_of(std::size_t i) const { return offset + i * (block + 8); }
};

/// All ranks draw the same accesses. Accesses that may conflict are apart.
class Round {
 public:
  Round(Step& step, Window& window, int number);

  /// The next memory of this process, before anybody may see it.
  void prepare();
  /// Whether somebody, or `origin`, accesses the memory of `target`.
  [[nodiscard]] bool meet(int origin, int target) const;
  /// Issues the accesses of this process to the target.
  void issue(int target);
  /// The same by requests, each of which is then complete at this process.
  void issue_by_requests(int target);
  /// Calls MPI_Win_flush_local after accesses to the target, where it can be relied on.
  void flush_locally(int target);
  /// This process's accesses to the target are complete here.
  void done_at_origin(int target);
  /// All accesses to this process's memory are complete: changes first what was read.
  void done_at_target();

 private:
  struct Mine {
    Access access;
    Bytes bytes;
    bool done = false;
  };
  [[nodiscard]] std::uint64_t memory_key(int target) const;
  [[nodiscard]] std::uint64_t put_key(const Access& access) const;
  void call(Mine& mine, MPI_Request* request);
  void finish(Mine& mine);

  Step& step_;
  Window& window_;
  int number_;
  std::vector<Access> all_;
  std::vector<Mine> mine_;
};

}  // namespace storm
