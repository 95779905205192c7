// The operations that FaceParty starts.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/engine/party.hpp"
#include "core/engine/engine.hpp"
#include "core/trace/trace.hpp"
#include "mpi/datatype/byte_blocks.hpp"
#include "mpi/datatype/reduction.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

class PhaseOperation;

/// The native requests that a collective waits for, tested together: one look at the native
/// library's network however many there are.
class PhaseRequests {
 public:
  void add(MPI_Request request, PhaseOperation& owner);
  /// Notifies the owners of those that are done.
  void test();
  /// Hands back what is left of the owner's.
  std::vector<MPI_Request> remove(const PhaseOperation& owner);

 private:
  void drop(std::size_t place);

  std::vector<MPI_Request> requests_;
  std::vector<PhaseOperation*> owners_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
};

/// Native requests under way, and their memory until they are done. Each is tested alone once, and
/// then together with all others.
class PhaseOperation final : public coll::Operation {
 public:
  PhaseOperation(const char* what, PhaseRequests& together) : what_(what), together_(together) {
    core::trace::note_text<core::trace::Event::PhaseBegun>(what, number());
  }
  ~PhaseOperation() override;
  bool poll() override;
  bool block() override;

  /// Calls start(request pointer), which returns an MPI error code.
  template <class Start>
  void start(Start&& native_start) {
    requests_.push_back(MPI_REQUEST_NULL);
    check(native_start(&requests_.back()));
  }
  /// For receives: their message must fill them.
  void expect(std::size_t bytes) { expected_ = bytes; }
  /// One of the requests handed to PhaseRequests is done.
  void ended(int code, const MPI_Status& status);

  SentBlocks out;
  ReceivedBlocks in;
  TypedElements operands, results;  ///< of reductions
  coll::Bytes packed_results;       ///< the results' final place

 private:
  /// For the trace: unique among the operations under way.
  std::intptr_t number() const { return reinterpret_cast<std::intptr_t>(this); }
  void check(int code) const;
  void check_size(const MPI_Status& status) const;

  const char* what_;
  PhaseRequests& together_;
  std::vector<MPI_Request> requests_;  // before they are looked at for the first time
  std::size_t expected_ = SIZE_MAX;
  std::size_t under_way_ = 0;  // handed over
  std::size_t pieces_ = 1;
  int code_ = MPI_SUCCESS;
  MPI_Status status_{};
  bool done_ = false;
};

/// Messages between clusters. In a run whose clusters may fail they are given up if they are
/// destroyed before their end.
class RemoteSend final : public coll::Operation {
 public:
  RemoteSend(int node, const core::Envelope& envelope, coll::ConstBytes data,
             bool synchronous = false);
  ~RemoteSend() override;
  bool poll() override;

 private:
  core::SendOp op_;
};

class RemoteRecv final : public coll::Operation {
 public:
  RemoteRecv(int node, const core::Envelope& envelope, coll::Bytes data);
  ~RemoteRecv() override;
  bool poll() override;

 private:
  core::RecvOp op_;
};

}  // namespace isthmus::face
