// What is behind request handles that Isthmus has a hand in. All of it is used under the progress
// lock.
#pragma once

#include <functional>
#include <memory>

#include "mpi/p2p/held.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// Runs op.advance(); what it throws becomes the result's error.
bool step(Operation& op) noexcept;

/// A request with an operation of ours. Its handle is a generalized request or, when persistent,
/// a native persistent receive from self, completed by a message to self with tag `bell`.
struct GridRequest {
  MPI_Request handle = MPI_REQUEST_NULL;
  std::unique_ptr<Operation> op;  ///< null for an inactive persistent request
  bool finished = false;          ///< op is, and the native handle will complete
  bool orphan = false;            ///< the program has freed it while it was active
  bool listed = false;            ///< pump() advances it

  int bell = 0;  ///< 0: a generalized request
  std::function<std::unique_ptr<Operation>()> start;
  MPI_Comm comm = MPI_COMM_NULL;  ///< whose error handler hears of the operation's error
  GridCommRef owner;              ///< of `comm`, which the program may free before

  ~GridRequest();
  /// Advances the operation; once it has finished, lets the native handle complete.
  bool advance();
};

/// A native persistent receive from a member of this cluster. While earlier wildcards could take
/// its messages, the native start is put off and the native library thinks it inactive.
struct PersistentReceive final : HeldReceive {
  PersistentReceive(MPI_Request handle_, GridCommRef comm_, int source_, int tag_)
      : HeldReceive(Kind::Start, source_, tag_), handle(handle_), comm(std::move(comm_)) {}
  void take(MPI_Message, const MPI_Status&) override {}
  void start() override;

  MPI_Request handle;
  HandleUse comm;
  bool active = false;  ///< started, natively or put off
  bool put_off = false;
};

/// Has pump() advance a request from now on, and no longer.
void activate(GridRequest& request);
void deactivate(GridRequest& request);

/// Tags for messages from self to self on grid()->self, each used by one object at a time. Tag 0
/// is never used.
class SelfTag {
 public:
  static int acquire();
  static void release(int tag);
};

}  // namespace isthmus::face
