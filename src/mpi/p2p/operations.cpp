#include "mpi/p2p/operations.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/datatype/formats.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/native/wildcards.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {

int receive_matched(std::byte* buffer, std::uint64_t size, MPI_Message* message,
                    MPI_Request* request) {
  if (fits_int(static_cast<MPI_Count>(size))) {
    return native.Imrecv(buffer, static_cast<int>(size), MPI_BYTE, message, request);
  }
#if ISTHMUS_LARGE_COUNT
  if (native.Imrecv_c != nullptr) {
    return native.Imrecv_c(buffer, static_cast<MPI_Count>(size), MPI_BYTE, message, request);
  }
#endif
  return native.Imrecv(buffer, 1, ManyBytes(size).get(), message, request);
}

void set_truncated(Result& result, std::uint64_t size, std::size_t capacity) {
  result.bytes = capacity;
  result.error =
      error_code(MPI_ERR_TRUNCATE, "MPI receive",
                 "a message of " + std::to_string(size) + " bytes from rank " +
                     std::to_string(result.source) + " with tag " + std::to_string(result.tag) +
                     " is longer than the buffer of " + std::to_string(capacity) + " bytes");
}

void set_failure(const Outgoing& outgoing, Result& result) {
  const MpiError* const why = outgoing.failure();
  if (why != nullptr) result.error = error_code(why->code, "MPI send", why->what());
}

std::string spoilt_words(const core::RecvOp& op, int tag) {
  return "the data of a message with tag " + std::to_string(tag) + " has not come, since rank " +
         std::to_string(op.envelope.source) + " could not read it: " + *op.spoilt;
}

void set_spoilt(const core::RecvOp& op, const char* function, Result& result) {
  result.error = error_code(MPI_ERR_OTHER, function, spoilt_words(op, result.tag));
}

bool finish_receive(const core::RecvOp& op, Incoming& incoming, Result& result) {
  if (op.error == core::OpError::Failed) {
    const core::NodeId from = op.from != core::kNobody ? op.from : op.peer;
    return lose(loss_of_process(static_cast<int>(from)), "MPI receive", result);
  }
  const std::size_t capacity = incoming.bytes().size();
  result.source = op.envelope.source;
  result.tag = op.envelope.tag;
  if (op.error == core::OpError::Spoilt) {
    set_spoilt(op, "MPI receive", result);
    return true;
  }
  result.bytes = std::min<std::uint64_t>(op.envelope.size, capacity);
  if (op.error == core::OpError::Truncated) set_truncated(result, op.envelope.size, capacity);
  if (incoming.signature() != nullptr) {
    incoming.change_format(format_between(static_cast<int>(op.peer)), own_format());
  }
  const int code = incoming.finish(static_cast<std::size_t>(result.bytes));
  if (result.error == MPI_SUCCESS) result.error = code;
  return true;
}

SendOperation::SendOperation(const GridComm& g, Outgoing outgoing, int destination, int tag,
                             bool synchronous)
    : outgoing_(std::move(outgoing)), watched_(g, destination) {
  change_for(g, destination, outgoing_);
  comm = g.native;
  passive = true;
  op_.peer = static_cast<core::NodeId>(g.group.node(destination));
  op_.envelope = {.context = g.context, .source = g.rank, .tag = tag, .size = 0};
  op_.synchronous = synchronous;
  outgoing_.send(op_);
}

SendOperation::~SendOperation() {
  if (watched_ && !op_.done()) end_early();
}

bool SendOperation::advance() {
  if (op_.done()) {
    if (op_.error == core::OpError::Failed) {
      return lose(loss_of_process(static_cast<int>(op_.peer)), "MPI send", result);
    }
    set_failure(outgoing_, result);
    return true;
  }
  outgoing_.look();
  const auto loss = watched_.loss();
  return loss && give_up() && lose(*loss, "MPI send", result);
}

void SendOperation::end_early() {
  if (grid() == nullptr) return;
  outgoing_.wait();  // the engine keeps a copy
  grid()->endpoint->give_up(op_);
}

void SendOperation::describe(WaitingFor& wait) const {
  wait.what = WaitingFor::What::Receiver;
  wait.peer = static_cast<int>(op_.peer);
  wait.tag = op_.envelope.tag;
}

ReceiveOperation::ReceiveOperation(const GridComm& g, Incoming incoming, int source, int tag)
    : incoming_(std::move(incoming)), watched_(g, source), from_(g.group.node(source)) {
  check_passes(g, source, incoming_.signature());
  comm = g.native;
  passive = true;
  g.probed.forget(source, engine_tag(tag));
  op_.context = g.context;
  op_.source = source;
  op_.tag = engine_tag(tag);
  op_.from = static_cast<core::NodeId>(from_);
  incoming_.receive_into(op_);
  grid()->endpoint->recv(op_);
}

ReceiveOperation::ReceiveOperation(MPI_Comm comm_, Incoming incoming,
                                   const std::shared_ptr<core::Extracted>& message)
    : incoming_(std::move(incoming)) {
  comm = comm_;
  passive = true;
  incoming_.receive_into(op_);
  grid()->endpoint->recv(message, op_);
}

void ReceiveOperation::describe(WaitingFor& wait) const {
  if (from_ < 0) return;
  wait.what = WaitingFor::What::Message;
  wait.peer = from_;
  wait.tag = op_.tag;
}

ReceiveOperation::~ReceiveOperation() {
  if (watched_ && !op_.done()) end_early();
}

bool ReceiveOperation::advance() {
  if (result.cancelled) return true;
  if (op_.done()) return finish_receive(op_, incoming_, result);
  incoming_.look(op_);
  const auto loss = watched_.loss();
  if (!loss) return false;
  // It may have come whole since the first look.
  if (op_.done()) return finish_receive(op_, incoming_, result);
  return give_up() && lose(*loss, "MPI receive", result);
}

void ReceiveOperation::end_early() {
  if (grid() != nullptr) grid()->endpoint->give_up(op_);
}

void ReceiveOperation::cancel() {
  if (!op_.done() && grid()->endpoint->cancel(op_)) result.cancelled = true;
}

HeldOperation::HeldOperation(GridCommRef g, Incoming incoming, int from, int with_tag)
    : HeldReceive(from == MPI_ANY_SOURCE ? Kind::Wildcard : Kind::Local, from, with_tag),
      comm_(std::move(g)),
      incoming_(std::move(incoming)),
      watched_(*comm_, from) {
  comm = comm_->native;
  passive = true;  // while it is held, pump() serves it
  guarded = true;
  incoming_.receive_into(op);
  held_receives(*comm_).add(*this);
}

HeldOperation::~HeldOperation() {
  if (phase_ == Phase::Held) held_receives(*comm_).remove(*this);
  if (watched_ && phase_ == Phase::Engine && !op.done()) end_early();
}

void HeldOperation::take(MPI_Message message, const MPI_Status& status) {
  phase_ = Phase::Native;
  const std::uint64_t size = bytes_of(status);
  std::byte* buffer = incoming_.bytes().data();
  result.source = status.MPI_SOURCE;
  result.tag = status.MPI_TAG;
  result.bytes = size;
  if (size > incoming_.bytes().size()) {
    // The library would call the error handler here, in the middle of something else.
    longer_ = std::make_unique_for_overwrite<std::byte[]>(size);
    buffer = longer_.get();
  }
  const int code = receive_matched(buffer, size, &message, &request_);
  if (code != MPI_SUCCESS) {
    result.error = code;
    result.raised = true;
  }
}

void HeldOperation::describe(WaitingFor& wait) const {
  wait.what = WaitingFor::What::Message;
  wait.peer = pattern.source < 0 ? -1 : comm_->group.node(pattern.source);
  wait.tag = pattern.tag;
}

bool HeldOperation::finish_native() {
  if (result.error != MPI_SUCCESS) return true;
  int flag = 0;
  const int code = native.Test(&request_, &flag, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) {
    result.error = code;
    result.raised = true;
    return true;
  }
  if (flag == 0) return false;
  const std::size_t capacity = incoming_.bytes().size();
  if (longer_) {
    if (capacity > 0) std::memcpy(incoming_.bytes().data(), longer_.get(), capacity);
    set_truncated(result, result.bytes, capacity);
    longer_.reset();
  }
  const int unpacked = incoming_.finish(static_cast<std::size_t>(result.bytes));
  if (result.error == MPI_SUCCESS) result.error = unpacked;
  return true;
}

bool HeldOperation::advance() {
  switch (phase_) {
    case Phase::Held:
      return watched_ && lose_while_held();
    case Phase::Engine:
      if (op.done()) return finish_receive(op, incoming_, result);
      incoming_.look(op);
      return false;
    case Phase::Native:
      return finish_native();
    case Phase::Cancelled:
      return true;
  }
  return true;
}

/// Messages that have come are received first, natively, too.
bool HeldOperation::lose_while_held() {
  auto loss = watched_.loss();
  if (!loss) return false;
  held_receives(*comm_).serve();
  if (phase_ != Phase::Held) return advance();
  if (loss->error_class == proc_failed_pending()) {
    if (!blocking) return false;  // pending_error
    loss->error_class = proc_failed();
  }
  // The engine may have matched a message of a living rank in the meantime.
  if (!held_receives(*comm_).remove(*this)) return phase_ != Phase::Held && advance();
  phase_ = Phase::Cancelled;
  return lose(*loss, "MPI receive", result);
}

int HeldOperation::pending_error() {
  const auto loss = phase_ == Phase::Held ? watched_.loss() : std::nullopt;
  if (!loss || loss->error_class != proc_failed_pending()) return MPI_SUCCESS;
  return error_code(loss->error_class, "MPI receive", loss->because);
}

bool HeldOperation::give_up() {
  if (phase_ == Phase::Held && held_receives(*comm_).remove(*this)) phase_ = Phase::Cancelled;
  if (phase_ == Phase::Engine) end_early();
  return phase_ == Phase::Cancelled;
}

void HeldOperation::end_early() {
  if (grid() != nullptr) grid()->endpoint->give_up(op);
  phase_ = Phase::Cancelled;
}

void HeldOperation::cancel() {
  if (phase_ != Phase::Held || !held_receives(*comm_).remove(*this)) return;
  phase_ = Phase::Cancelled;
  result.cancelled = true;
}

/// One half has ended. If its peer has failed, the other may wait for what never comes.
void Exchange::end_other_half() {
  const Operation& ended = sent_ ? *send_ : *receive_;
  if (is_loss(ended.result.error)) (sent_ ? received_ : sent_) = other_half().give_up();
}

bool Exchange::advance() {
  receive_->blocking = blocking;
  if (!sent_) sent_ = send_->advance();
  if (!received_) received_ = receive_->advance();
  if (sent_ != received_ && may_lose()) end_other_half();
  if (!sent_ || !received_) return false;
  result = receive_->result;
  if (result.error == MPI_SUCCESS && send_->result.error != MPI_SUCCESS) {
    result.error = send_->result.error;
    result.raised = send_->result.raised;
  }
  return true;
}

}  // namespace isthmus::face
