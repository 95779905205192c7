#include "mpi/p2p/held.hpp"

#include <algorithm>

#include "core/trace/trace.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/outstanding.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {
namespace {

// Patterns that one serve() looks for if the first native message fits none of them. Each look
// costs about 100 ns natively, and there may be thousands (2026-11).
constexpr std::size_t kMaxLooks = 16;

}  // namespace

HeldReceives::~HeldReceives() {
  const core::Lock lock(progress_mutex);
  stop_serving(*this);
  outstanding.remove(static_cast<int>(index_.size()));
}

/// Natively a probe finds what a receive at the same point would get. The engine's message may be
/// older than the native one that was found, or have come since.
bool HeldReceives::take_probed(HeldReceive& receive) {
  const auto [source, tag] = receive.pattern;
  const bool wildcard = receive.kind == HeldReceive::Kind::Wildcard;
  const auto found = wildcard ? comm_.probed.source_for(tag) : std::nullopt;
  comm_.probed.forget(source, tag);
  if (!found || comm_.native_rank_of(*found) < 0 || index_.overlaps({*found, tag})) return false;
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status taken{};
  native.Improbe(comm_.native_rank_of(*found), native_tag(tag), comm_.native, &flag, &message,
                 &taken);
  if (flag == 0) return false;
  give(receive, message, taken);
  return true;
}

void HeldReceives::give(HeldReceive& receive, MPI_Message message, MPI_Status status) {
  translate(comm_, &status);
  core::trace::note<core::trace::Event::HeldNative>(comm_.context, status.MPI_SOURCE,
                                                    status.MPI_TAG);
  receive.take(message, status);
}

void HeldReceives::add(HeldReceive& receive) {
  if (take_probed(receive)) return;
  core::trace::note<core::trace::Event::ReceiveHeld>(comm_.context, receive.pattern.source,
                                                     receive.pattern.tag);
  if (empty()) serve_from_now_on(*this);
  index_.add(receive);
  size_.store(index_.size(), std::memory_order_relaxed);
  outstanding.add();
  if (receive.kind == HeldReceive::Kind::Start) starts_.push_back(receive);
  if (receive.kind == HeldReceive::Kind::Wildcard) {
    receive.op.receive = &receive;
    receive.op.context = comm_.context;
    receive.op.source = core::kAnySource;
    receive.op.tag = receive.pattern.tag;
    receive.op.tell = &matched_;
    grid()->endpoint->recv(receive.op);
  }
  // With several held receives, the waiting threads look for all of them at once.
  if (index_.size() == 1) serve();
}

void HeldReceives::erase(HeldReceive& receive) {
  index_.erase(receive);
  if (receive.starts.linked) starts_.erase(receive);
  size_.store(index_.size(), std::memory_order_relaxed);
  outstanding.remove();
}

void HeldReceives::forget_matched() {
  core::RecvOp* next = nullptr;
  for (core::RecvOp* op = matched_.take_all(); op != nullptr; op = next) {
    next = op->next_matched;
    HeldReceive& receive = *static_cast<HeldReceive::Posted*>(op)->receive;
    erase(receive);
    core::trace::note<core::trace::Event::HeldEngine>(comm_.context, op->source, op->tag);
    receive.taken_by_engine();
  }
}

bool HeldReceives::remove(HeldReceive& receive) {
  if (receive.turn == 0) return false;
  if (receive.kind == HeldReceive::Kind::Wildcard && !grid()->endpoint->cancel(receive.op)) {
    forget_matched();
    return false;
  }
  erase(receive);
  start_unhindered();
  return true;
}

HeldReceive* HeldReceives::first_for(const MPI_Status& status) const {
  HeldEntry* const first =
      index_.first_for(comm_.rank_of_native(status.MPI_SOURCE), status.MPI_TAG);
  return first == nullptr ? nullptr : &receive_of(*first);
}

bool HeldReceives::look(Pattern pattern, MPI_Status& status) const {
  const int source =
      pattern.source == core::kAnySource ? MPI_ANY_SOURCE : comm_.native_rank_of(pattern.source);
  const int tag = native_tag(pattern.tag);
  int found = 0;
  native.Iprobe(source, tag, comm_.native, &found, &status);
  return found != 0;
}

/// Gives `receive` the native message of `status`, unless the engine has matched it: either way it
/// has left. False: another thread's receive was quicker with the message.
bool HeldReceives::offer(HeldReceive& receive, const MPI_Status& status) {
  if (receive.kind == HeldReceive::Kind::Start) {
    erase(receive);
    receive.start();
    return true;
  }
  // During the native look, the engine must give the receive no message. It must also give none
  // that could be this receive's to a later one.
  const bool wildcard = receive.kind == HeldReceive::Kind::Wildcard;
  if (wildcard && !grid()->endpoint->withhold(receive.op)) {
    forget_matched();
    return true;
  }
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status taken{};
  native.Improbe(status.MPI_SOURCE, status.MPI_TAG, comm_.native, &found, &message, &taken);
  if (wildcard) grid()->endpoint->release(receive.op, found != 0);
  if (found == 0) return false;
  erase(receive);
  give(receive, message, taken);
  return true;
}

/// Finds the receive for a native message that has arrived, and gives it the message. False: it
/// found none.
bool HeldReceives::serve_message(MPI_Status status) {
  HeldReceive* receive = first_for(status);
  if (receive == nullptr) return false;
  // The receive may match an earlier message of the same source, which its own pattern finds. That
  // one may belong to an earlier receive, and so on.
  for (;;) {
    MPI_Status own = status;
    if (!look(receive->pattern, own)) return false;  // another thread's receive was quicker
    HeldReceive* const earlier = first_for(own);
    if (earlier == receive) return offer(*receive, own);
    receive = earlier;
  }
}

void HeldReceives::serve() {
  forget_matched();
  // Its native communicator is gone.
  if (find_comm(comm_.native) != &comm_) return;
  MPI_Status status{};
  bool blocked = false;
  while (!index_.empty() && !blocked && look({}, status)) {
    blocked = first_for(status) == nullptr || !serve_message(status);
  }
  // The first message is for a receive that the program has yet to post, and hides the others.
  const std::size_t looks = blocked ? std::min(index_.patterns(), kMaxLooks) : 0;
  for (std::size_t i = 0; i < looks && !index_.empty(); ++i) {
    const Pattern pattern = index_.next_pattern();
    while (!index_.empty() && look(pattern, status) && serve_message(status)) {
    }
  }
  start_unhindered();
}

void HeldReceives::start_unhindered() {
  HeldReceive* next = nullptr;
  for (HeldReceive* receive = starts_.front(); receive != nullptr; receive = next) {
    next = starts_.next(*receive);
    if (index_.first_for(receive->pattern.source, receive->pattern.tag) != receive) continue;
    erase(*receive);
    receive->start();
  }
}

HeldReceives& held_receives(GridComm& comm) {
  if (!comm.held) comm.held = std::make_shared<HeldReceives>(comm);
  return *comm.held;
}

}  // namespace isthmus::face
