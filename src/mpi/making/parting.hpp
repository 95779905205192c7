// The end of a revoked communicator. Native sends of other members here may still wait for this
// one, and messages of theirs may be under way. A later communicator may get the same native
// context, and must not receive them. So the handle is kept until all members here have parted.
#pragma once

#include <memory>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"
#include "mpi/survival/survivors.hpp"

namespace isthmus::face {

/// Whether other members here may have sent natively on a communicator that is revoked.
bool needs_parting(const GridComm& comm);

/// The program has freed the communicator, which is revoked. Each member here sends the others a
/// last native message, and receives theirs (p2p/drain.hpp). It goes only to those that know of the
/// revocation, since others would take it for the program's.
class Parting {
 public:
  explicit Parting(GridCommRef comm);
  /// All members here have parted, so nothing comes any more. Under the progress lock.
  bool over();

 private:
  void send_to(int native_rank);

  GridCommRef comm_;
  std::shared_ptr<Survivors> survivors_;
  std::vector<bool> told_;  // by native rank
  std::vector<MPI_Request> sends_;
};

}  // namespace isthmus::face
