#include "mpi/watch.hpp"

#include <algorithm>

#include "mpi/grid_request.hpp"

namespace isthmus::face {
namespace {

GridRequest& grid_request(const Tracked& entry) { return *static_cast<GridRequest*>(entry.object); }
PersistentReceive& persistent(const Tracked& entry) {
  return *static_cast<PersistentReceive*>(entry.object);
}

}  // namespace

Watch::Watch(int count, const MPI_Request* requests) : taken_out_(threads_multiple()) {
  if (tracked.empty() || requests == nullptr) return;
  for (int i = 0; i < count; ++i) {
    const auto entry = tracked.find(key(requests[i]));
    if (!entry) continue;
    if (count_ == few_.size() && !many_) {
      many_ = std::make_unique<Seen[]>(static_cast<std::size_t>(count));
      std::copy(few_.begin(), few_.end(), many_.get());
      seen_ = many_.get();
    }
    seen_[count_++] = {i, false, *entry};
    if (taken_out_ && !entry->stays) tracked.erase(entry->key);
  }
}

Watch::~Watch() {
  if (!taken_out_) return;
  for (const Seen& s : seen()) {
    if (!s.settled && !s.entry.stays) tracked.insert(s.entry);
  }
}

Watch::Seen* Watch::find(int index) const {
  const auto all = seen();
  const auto at = std::lower_bound(all.begin(), all.end(), index,
                                   [](const Seen& a, int b) { return a.index < b; });
  return at != all.end() && at->index == index ? &*at : nullptr;
}

bool Watch::native_can_wait() const {
  if (!idle()) return false;
  return std::none_of(seen().begin(), seen().end(), [](const Seen& s) {
    return s.entry.kind == Tracked::Kind::Grid && grid_request(s.entry).op &&
           !grid_request(s.entry).finished;
  });
}

bool Watch::poll() const {
  pump();
  bool all_started = true;
  for (const Seen& s : seen()) {
    if (s.entry.kind == Tracked::Kind::Grid) {
      GridRequest& request = grid_request(s.entry);
      const std::lock_guard lock(progress_mutex);
      if (!request.listed) request.advance();
    } else if (s.entry.kind == Tracked::Kind::PersistentReceive) {
      PersistentReceive& receive = persistent(s.entry);
      const std::lock_guard lock(progress_mutex);
      if (receive.put_off) held_receives(*receive.comm).serve(*receive.comm);
      all_started = all_started && !receive.put_off;
    }
  }
  return all_started;
}

void Watch::peek(const Seen& s, MPI_Status* status) const {
  if (status == nullptr) return;
  const std::lock_guard lock(progress_mutex);
  switch (s.entry.kind) {
    case Tracked::Kind::Receive:
      status->MPI_SOURCE = s.entry.source;
      break;
    case Tracked::Kind::PersistentReceive:
      if (persistent(s.entry).active) status->MPI_SOURCE = s.entry.source;
      break;
    case Tracked::Kind::Grid:
      if (grid_request(s.entry).op) fill_status(grid_request(s.entry).op->result, status);
      break;
  }
}

Complaint Watch::settle(Seen& s, MPI_Status* status) const {
  s.settled = true;
  if (!taken_out_ && !s.entry.stays) tracked.erase(s.entry.key);
  if (s.entry.kind == Tracked::Kind::Receive) {
    if (status != nullptr) status->MPI_SOURCE = s.entry.source;
    return {};
  }
  const std::lock_guard lock(progress_mutex);
  peek(s, status);
  if (s.entry.kind == Tracked::Kind::PersistentReceive) {
    persistent(s.entry).active = false;
    return {};
  }
  GridRequest& request = grid_request(s.entry);
  if (!request.op) return {};
  const Result result = request.op->result;
  const Complaint complaint{result.error, request.comm, result.raised};
  if (request.bell == 0) {
    delete &request;
  } else {
    request.op.reset();
    request.finished = false;
  }
  return complaint;
}

}  // namespace isthmus::face
