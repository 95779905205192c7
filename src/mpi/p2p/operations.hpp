// The operations of point-to-point communication on grid communicators.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/engine/engine.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/held.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// Receives a matched native message of `size` packed bytes. Counts over 2 GiB need a datatype if
/// the library has no large counts. Returns a native error code.
int receive_matched(std::byte* buffer, std::uint64_t size, MPI_Message* message,
                    MPI_Request* request);
/// Writes how a receive of the engine ended into `result`, and unpacks. True always.
bool finish_receive(const core::RecvOp& op, Incoming& incoming, Result& result);
/// Sets result.error for a send that is done, if a GPU's driver has failed to copy all of it.
void set_failure(const Outgoing& outgoing, Result& result);
/// Says why a receive has ended with OpError::Spoilt.
std::string spoilt_words(const core::RecvOp& op, int tag);
/// Sets result.error for it.
void set_spoilt(const core::RecvOp& op, const char* function, Result& result);
/// Sets result.error for a message that is longer than the buffer.
void set_truncated(Result& result, std::uint64_t size, std::size_t capacity);

/// A send to another cluster. Done when the engine has taken the bytes (and matched them, if
/// synchronous).
class SendOperation final : public Operation {
 public:
  /// `destination` is a rank in another cluster.
  SendOperation(const GridComm& g, Outgoing outgoing, int destination, int tag, bool synchronous);
  ~SendOperation() override;
  bool advance() override;
  void describe(WaitingFor& wait) const override;
  bool give_up() override {
    end_early();
    return true;
  }

 private:
  void end_early();

  core::SendOp op_;
  Outgoing outgoing_;  // ends before it
  const Watched watched_;
};

/// A receive from a named rank in another cluster, or of an extracted message.
class ReceiveOperation final : public Operation {
 public:
  ReceiveOperation(const GridComm& g, Incoming incoming, int source, int tag);
  ReceiveOperation(MPI_Comm comm, Incoming incoming,
                   const std::shared_ptr<core::Extracted>& message);
  ~ReceiveOperation() override;
  bool advance() override;
  void describe(WaitingFor& wait) const override;
  void cancel() override;
  bool give_up() override {
    end_early();
    return true;
  }

 private:
  void end_early();

  Incoming incoming_;
  const Watched watched_;
  int from_ = -1;  // world rank; -1: known already
  core::RecvOp op_;
};

/// A held receive: from any source, or queued behind one. See held.hpp.
class HeldOperation final : public Operation, private HeldReceive {
 public:
  /// Called under the progress lock, as all of its functions.
  HeldOperation(GridCommRef g, Incoming incoming, int from, int with_tag);
  ~HeldOperation() override;
  bool advance() override;
  void describe(WaitingFor& wait) const override;
  void cancel() override;
  bool give_up() override;

 private:
  enum class Phase { Held, Engine, Native, Cancelled };
  void take(MPI_Message message, const MPI_Status& status) override;
  void taken_by_engine() override { phase_ = Phase::Engine; }
  bool finish_native();
  bool lose_while_held();
  int pending_error() override;
  void end_early();

  GridCommRef comm_;
  Incoming incoming_;
  const Watched watched_;
  Phase phase_ = Phase::Held;
  MPI_Request request_ = MPI_REQUEST_NULL;  // of phase Native
  std::unique_ptr<std::byte[]> longer_;     // holds a message that is longer than the buffer
};

/// A send and a receive at once; the result is the receive's.
class Exchange final : public Operation {
 public:
  Exchange(MPI_Comm comm_, std::unique_ptr<Operation> send, std::unique_ptr<Operation> receive)
      : send_(std::move(send)), receive_(std::move(receive)) {
    comm = comm_;
  }
  bool advance() override;
  void describe(WaitingFor& wait) const override { (received_ ? send_ : receive_)->describe(wait); }
  void cancel() override { receive_->cancel(); }
  int pending_error() override { return received_ ? MPI_SUCCESS : receive_->pending_error(); }

 private:
  Operation& other_half() { return sent_ ? *receive_ : *send_; }
  void end_other_half();

  std::unique_ptr<Operation> send_, receive_;
  bool sent_ = false, received_ = false;
};

}  // namespace isthmus::face
