// The commons of a communicator whose ranks are all on one host: the memory behind coll::Commons,
// and how the ranks come by it.
#pragma once

#include <memory>

#include "coll/engine/commons.hpp"
#include "coll/engine/task.hpp"
#include "mpi/comm/comm.hpp"
#include "net/shm/shared_memory.hpp"

namespace isthmus::face {

class HostCommons {
 public:
  /// Whether the communicator gets one before its next blocking collective, which has that number.
  /// The same on all ranks.
  static bool due(const GridComm& comm, std::uint64_t number);
  /// Every rank takes part. `made` stays null on all if one of them cannot have it: ranks whose
  /// containers hide them from each other, a process with many of them.
  static coll::Task make(coll::Party& party, std::unique_ptr<HostCommons>& made);

  HostCommons(net::SharedMemory memory, int ranks, int rank);
  ~HostCommons();
  HostCommons(const HostCommons&) = delete;
  HostCommons& operator=(const HostCommons&) = delete;

  coll::Commons& commons() { return commons_; }

 private:
  net::SharedMemory memory_;
  coll::Commons commons_;
};

}  // namespace isthmus::face
