#include "mpi/held.hpp"

#include <algorithm>

#include "mpi/comm.hpp"
#include "mpi/grid.hpp"
#include "mpi/progress.hpp"
#include "mpi/request.hpp"

namespace isthmus::face {
namespace {

bool meet(int a, int b, int any) { return a == any || b == any || a == b; }

/// Whether every message that (source, tag) matches is one that `wider` matches.
struct Pattern {
  int source, tag;
  bool covers(int other_source, int other_tag) const {
    return (source == MPI_ANY_SOURCE || source == other_source) &&
           (tag == MPI_ANY_TAG || tag == other_tag);
  }
};

}  // namespace

HeldReceives::~HeldReceives() {
  active_operations.fetch_sub(static_cast<int>(items_.size()), std::memory_order_relaxed);
}

std::size_t HeldReceives::first_overlap(int source, int tag) const {
  const auto at = std::find_if(items_.begin(), items_.end(), [&](const HeldReceive* item) {
    return meet(item->source, source, MPI_ANY_SOURCE) && meet(item->tag, tag, MPI_ANY_TAG);
  });
  return static_cast<std::size_t>(at - items_.begin());
}

void HeldReceives::add(GridComm& comm, HeldReceive& receive) {
  items_.push_back(&receive);
  size_.store(items_.size(), std::memory_order_relaxed);
  active_operations.fetch_add(1, std::memory_order_relaxed);
  if (receive.kind == HeldReceive::Kind::Wildcard) {
    receive.op.context = comm.context;
    receive.op.source = core::kAnySource;
    receive.op.tag = receive.tag == MPI_ANY_TAG ? core::kAnyTag : receive.tag;
    grid()->endpoint->recv(receive.op);
  }
}

void HeldReceives::erase(std::size_t index) {
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(index));
  size_.store(items_.size(), std::memory_order_relaxed);
  active_operations.fetch_sub(1, std::memory_order_relaxed);
}

bool HeldReceives::remove(HeldReceive& receive) {
  const auto at = std::find(items_.begin(), items_.end(), &receive);
  if (at == items_.end()) return false;
  if (receive.kind == HeldReceive::Kind::Wildcard && !grid()->endpoint->cancel(receive.op)) {
    return false;  // serve() will find it out
  }
  erase(static_cast<std::size_t>(at - items_.begin()));
  start_unhindered();
  return true;
}

bool HeldReceives::offer(GridComm& comm, std::size_t index, const MPI_Status& status) {
  HeldReceive& receive = *items_[index];
  if (receive.kind == HeldReceive::Kind::Start) {
    erase(index);
    receive.start();
    return true;
  }
  // While it is looked for natively, the engine must give the receive no message, and none that
  // could be its own to a later one.
  const bool wildcard = receive.kind == HeldReceive::Kind::Wildcard;
  if (wildcard && !grid()->endpoint->withhold(receive.op)) {
    erase(index);
    receive.taken_by_engine();
    return true;
  }
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status taken{};
  native.Improbe(status.MPI_SOURCE, status.MPI_TAG, comm.native, &found, &message, &taken);
  if (wildcard) grid()->endpoint->release(receive.op, found != 0);
  if (found == 0)
    return false;  // a receive of another thread, posted at the same time, was quicker
  erase(index);
  translate(comm, &taken);
  receive.take(message, taken);
  return true;
}

void HeldReceives::serve(GridComm& comm) {
  if (items_.empty()) return;
  std::vector<Pattern> absent;  // no native message fits these now
  std::size_t i = 0;
  while (i < items_.size()) {
    HeldReceive& receive = *items_[i];
    if (receive.kind == HeldReceive::Kind::Wildcard && receive.op.done()) {
      erase(i);
      receive.taken_by_engine();
      continue;
    }
    const bool known_absent =
        receive.kind == HeldReceive::Kind::Start ||
        std::any_of(absent.begin(), absent.end(), [&](const Pattern& pattern) {
          return pattern.covers(receive.source, receive.tag);
        });
    if (known_absent || find_comm(comm.native) != &comm) {
      ++i;
      continue;
    }
    const int source =
        receive.source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : comm.native_rank_of(receive.source);
    int found = 0;
    MPI_Status status{};
    native.Iprobe(source, receive.tag, comm.native, &found, &status);
    if (found == 0) {
      absent.push_back({receive.source, receive.tag});
      ++i;
      continue;
    }
    // Of all that could take it, the earliest does.
    const std::size_t first = first_overlap(comm.rank_of_native(status.MPI_SOURCE), status.MPI_TAG);
    i = offer(comm, first, status) ? first : i + 1;
  }
  start_unhindered();
}

void HeldReceives::start_unhindered() {
  for (std::size_t i = 0; i < items_.size();) {
    HeldReceive& receive = *items_[i];
    if (receive.kind == HeldReceive::Kind::Start &&
        first_overlap(receive.source, receive.tag) == i) {
      erase(i);
      receive.start();
    } else {
      ++i;
    }
  }
}

HeldReceives& held_receives(GridComm& comm) {
  if (!comm.held) comm.held = std::make_unique<HeldReceives>();
  return *comm.held;
}

}  // namespace isthmus::face
