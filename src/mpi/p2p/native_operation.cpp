#include "mpi/p2p/native_operation.hpp"

namespace isthmus::face {

bool NativeOperation::advance() {
  int flag = 0;
  MPI_Status status{};  // MPICH leaves parts of it as they were
  const int code = native.Test(&request_, &flag, &status);
  if (code != MPI_SUCCESS) {
    result.error = code;
    result.raised = true;
  } else if (flag == 0) {
    look_for_loss();
    return false;
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

/// A native send cannot be taken back. All members receive what comes on a revoked communicator
/// (drain.hpp), so it ends.
void NativeOperation::look_for_loss() {
  if (!watched_ || loss_) return;
  loss_ = watched_.loss();
  if (loss_ && is_receive()) native.Cancel(&request_);
}

bool NativeOperation::give_up() {
  if (is_receive()) cancel();
  return false;
}

void NativeOperation::cancel() {
  if (request_ != MPI_REQUEST_NULL) native.Cancel(&request_);
}

}  // namespace isthmus::face
