#include "mpi/p2p/native_operation.hpp"

#include <memory>

#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

/// The receiver gets this long to take the message. The library may be in the middle of sending it,
/// and then needs this process to call MPI.
constexpr std::chrono::milliseconds kTimeAfterLoss{250};

/// A native send that the program does not wait for any more. It ends when its receiver calls MPI
/// again (drain.hpp).
class LeftSend final : public Operation {
 public:
  LeftSend(MPI_Request request, Outgoing copy) : request_(request), copy_(std::move(copy)) {}
  bool advance() override {
    if (grid() == nullptr) return true;
    int done = 0;
    return native.Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  }

 private:
  MPI_Request request_;
  const Outgoing copy_;
};

}  // namespace

bool NativeOperation::advance() {
  // First, since a send ends well, too, when its message is thrown away (drain.hpp).
  if (!is_receive()) look_for_loss();
  int flag = 0;
  MPI_Status status{};  // MPICH leaves parts of it as they were
  const int code = native.Test(&request_, &flag, &status);
  if (code != MPI_SUCCESS) {
    result.error = code;
    result.raised = true;
  } else if (flag == 0) {
    return may_leave() && give_up() && lose(*loss_, "MPI send", result);
  }
  int cancelled = 0;
  native.Test_cancelled(&status, &cancelled);
  if (loss_ && (cancelled != 0 || !is_receive())) {
    return lose(*loss_, is_receive() ? "MPI receive" : "MPI send", result);
  }
  result.cancelled = cancelled != 0;
  result.source = source_;
  if (source_ == MPI_PROC_NULL)
    return true;  // a send, or a receive from MPI_PROC_NULL: all is
                  // empty
  result.tag = status.MPI_TAG;
  result.bytes = bytes_of(status);
  return true;
}

/// Looks for a loss. Cancels a receive that has one.
void NativeOperation::look_for_loss() {
  if (!watched_ || loss_) return;
  loss_ = watched_.loss();
  if (!loss_) return;
  lost_at_ = Clock::now();
  if (is_receive()) cancel();
}

/// A native send cannot be taken back. All members receive what comes on a revoked communicator
/// (drain.hpp), so it ends when the receiver calls MPI. True: the program need not wait for that.
bool NativeOperation::may_leave() {
  look_for_loss();
  return loss_ && copy_ && Clock::now() - lost_at_ >= kTimeAfterLoss;
}

bool NativeOperation::give_up() {
  if (is_receive()) cancel();
  if (!copy_) return false;
  keep(std::make_unique<LeftSend>(request_, std::move(*copy_)));
  copy_.reset();
  return true;
}

void NativeOperation::cancel() {
  if (request_ != MPI_REQUEST_NULL) native.Cancel(&request_);
}

}  // namespace isthmus::face
