#include "mpi/coll/party_operation.hpp"

#include <chrono>

#include "mpi/comm/survival.hpp"
#include "mpi/p2p/operations.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

/// After a failure only: a message under way still uses the collective's memory.
template <class Done>
void outlast(const core::Op& op, Done&& taken_back) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!op.done() && !taken_back()) {
    Grid* const g = grid();
    if (g == nullptr) return;
    if (std::chrono::steady_clock::now() > deadline) {
      abort_grid(1, "a collective failed on world rank " + std::to_string(g->world_rank) +
                        " while its messages to other clusters could not be finished");
    }
    g->endpoint->wait_event(g->endpoint->events(), std::chrono::milliseconds(1));
  }
}

}  // namespace

void PhaseOperation::check(int code) const {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_ERR_OTHER;
  native.Error_class(code, &error_class);
  throw MpiError(error_class, std::string("the native ") + what_ + " inside the cluster failed");
}

void PhaseOperation::check_size(const MPI_Status& status) const {
  if (expected_ == SIZE_MAX || pieces_ > 1) return;
  MPI_Count bytes = 0;
  native.Get_elements_x(&status, MPI_BYTE, &bytes);
  if (bytes == static_cast<MPI_Count>(expected_)) return;
  throw MpiError(MPI_ERR_TRUNCATE,
                 "the ranks disagree about the size of the data: " + std::to_string(expected_) +
                     " bytes here, " + std::to_string(bytes) + " at another rank");
}

void PhaseOperation::ended(int code, const MPI_Status& status) {
  --under_way_;
  if (code_ == MPI_SUCCESS) code_ = code;
  status_ = status;
}

bool PhaseOperation::poll() {
  if (done_) return true;
  if (!requests_.empty()) {
    pieces_ = requests_.size();
    while (!requests_.empty()) {
      int flag = 0;
      const int code = native.Test(&requests_.back(), &flag, &status_);
      if (flag == 0 && code == MPI_SUCCESS) {
        together_.add(requests_.back(), *this);
        ++under_way_;
      }
      requests_.pop_back();
      check(code);
    }
  }
  if (under_way_ > 0) return false;
  check(code_);
  check_size(status_);
  done_ = true;
  results.store(packed_results);
  in.store();
  core::trace::note<core::trace::Event::PhaseEnded>(number());
  return true;
}

bool PhaseOperation::block() {
  if (under_way_ == 0) return false;
  for (MPI_Request& request : together_.remove(*this)) {
    MPI_Status status{};
    const int code = native.Wait(&request, &status);
    ended(code, status);
  }
  return true;
}

PhaseOperation::~PhaseOperation() {
  if (under_way_ > 0) {
    const auto left = together_.remove(*this);
    requests_.insert(requests_.end(), left.begin(), left.end());
  }
  if (done_ || expected_ == SIZE_MAX || grid() == nullptr) return;
  // A receive of a collective that failed. Other operations cannot be taken back.
  for (MPI_Request& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    native.Cancel(&request);
    native.Request_free(&request);
  }
}

void PhaseRequests::add(MPI_Request request, PhaseOperation& owner) {
  requests_.push_back(request);
  owners_.push_back(&owner);
}

void PhaseRequests::drop(std::size_t place) {
  requests_[place] = requests_.back();
  owners_[place] = owners_.back();
  requests_.pop_back();
  owners_.pop_back();
}

void PhaseRequests::test() {
  if (requests_.empty()) return;
  const std::size_t size = requests_.size();
  done_.resize(size);
  statuses_.resize(size);
  int number = 0;
  const int code = native.Testsome(static_cast<int>(size), requests_.data(), &number, done_.data(),
                                   statuses_.data());
  if (number == MPI_UNDEFINED) return;
  for (int i = 0; i < number; ++i) {
    const auto at = static_cast<std::size_t>(i);
    // Only with an error does the library set the errors of all.
    const int own = code == MPI_SUCCESS ? MPI_SUCCESS : statuses_[at].MPI_ERROR;
    owners_[static_cast<std::size_t>(done_[at])]->ended(own, statuses_[at]);
  }
  for (std::size_t place = size; place-- > 0;) {
    if (requests_[place] == MPI_REQUEST_NULL) drop(place);
  }
}

std::vector<MPI_Request> PhaseRequests::remove(const PhaseOperation& owner) {
  std::vector<MPI_Request> left;
  for (std::size_t place = requests_.size(); place-- > 0;) {
    if (owners_[place] != &owner) continue;
    left.push_back(requests_[place]);
    drop(place);
  }
  return left;
}

namespace {

/// The engine has ended a message since its peer has failed.
void check_peer(core::OpError error, core::NodeId peer) {
  if (error != core::OpError::Failed) return;
  const Loss loss = loss_of_process(static_cast<int>(peer));
  throw MpiError(loss.error_class, loss.because);
}

/// Whether the endpoint ends the message now.
template <class Op>
bool given_up(Op& op) {
  if (!may_lose()) return false;
  if (!op.done() && grid() != nullptr) grid()->endpoint->give_up(op);
  return true;
}

}  // namespace

RemoteSend::RemoteSend(int node, const core::Envelope& envelope, coll::ConstBytes data,
                       bool synchronous) {
  op_.peer = static_cast<core::NodeId>(node);
  op_.envelope = envelope;
  op_.data = data;
  op_.synchronous = synchronous;
  grid()->endpoint->send(op_, Backoff::here());
}

bool RemoteSend::poll() {
  if (!op_.done()) return false;
  check_peer(op_.error, op_.peer);
  return true;
}

RemoteSend::~RemoteSend() {
  if (!given_up(op_)) outlast(op_, [] { return false; });
}

RemoteRecv::RemoteRecv(int node, const core::Envelope& envelope, coll::Bytes data) {
  op_.context = envelope.context;
  op_.source = envelope.source;
  op_.tag = envelope.tag;
  op_.from = static_cast<core::NodeId>(node);
  op_.buffer = data.data();
  op_.capacity = data.size();
  grid()->endpoint->recv(op_);
}

RemoteRecv::~RemoteRecv() {
  if (!given_up(op_)) outlast(op_, [this] { return grid()->endpoint->cancel(op_); });
}

bool RemoteRecv::poll() {
  if (!op_.done()) return false;
  check_peer(op_.error, op_.from);
  if (op_.error == core::OpError::Spoilt)
    throw MpiError(MPI_ERR_OTHER, spoilt_words(op_, op_.envelope.tag));
  if (op_.envelope.size != op_.capacity) {
    throw MpiError(MPI_ERR_TRUNCATE, "the ranks disagree about the size of the data: " +
                                         std::to_string(op_.capacity) + " bytes here, " +
                                         std::to_string(op_.envelope.size) + " at rank " +
                                         std::to_string(op_.envelope.source));
  }
  return true;
}

}  // namespace isthmus::face
