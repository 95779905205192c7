#include "mpi/request/watch.hpp"

#include <algorithm>

#include "mpi/native/thread_level.hpp"
#include "mpi/request/grid_request.hpp"

namespace isthmus::face {
namespace {

GridRequest& grid_request(const Tracked& entry) { return *static_cast<GridRequest*>(entry.object); }
PersistentReceive& persistent(const Tracked& entry) {
  return *static_cast<PersistentReceive*>(entry.object);
}
std::uintptr_t key_of(MPI_Request request) {
  return request == MPI_REQUEST_NULL ? 0 : key(request);
}

}  // namespace

Watch::Watch(int count, const MPI_Request* requests) : taken_out_(threads_multiple()) {
  if (count <= 0 || requests == nullptr) return;
  const auto number = static_cast<std::size_t>(count);
  tracked.find_each(
      number, [&](std::size_t i) { return key_of(requests[i]); },
      [&](std::size_t i, const Tracked& entry) {
        seen_.add({static_cast<int>(i), false, entry}, number);
      });
  for (Seen& s : seen()) {
    if (taken_out_ && !s.entry.stays) tracked.erase(s.entry.key);
    if (s.entry.kind == Tracked::Kind::Receive) continue;
    has_others_ = true;
    pending_.add(&s, number);
  }
}

Watch::~Watch() {
  if (!taken_out_) return;
  for (const Seen& s : seen()) {
    if (!s.settled && !s.entry.stays) tracked.insert(s.entry);
  }
}

Watch::Seen* Watch::find(int index) {
  const auto all = seen();
  const auto at = std::lower_bound(all.begin(), all.end(), index,
                                   [](const Seen& a, int b) { return a.index < b; });
  return at != all.end() && at->index == index ? &*at : nullptr;
}

bool Watch::poll() {
  pump();
  if (pending_.empty()) return true;
  const std::lock_guard lock(progress_mutex);
  bool all_started = true;
  std::size_t left = 0;
  for (Seen* const s : pending_.all()) {
    if (s->entry.kind == Tracked::Kind::Grid) {
      GridRequest& request = grid_request(s->entry);
      if (!request.listed) request.advance();
      if (!request.op || request.finished) continue;
    } else {
      if (!persistent(s->entry).put_off) continue;
      all_started = false;
    }
    pending_.all()[left++] = s;
  }
  pending_.shrink(left);
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
  const Complaint complaint{result.error, request.comm, result.raised, request.owner};
  if (request.bell == 0) {
    delete &request;
  } else {
    request.op.reset();
    request.finished = false;
  }
  return complaint;
}

int finished_among(int count, const MPI_Request* requests) {
  if (tracked.only_receives() || requests == nullptr) return -1;
  const std::lock_guard lock(progress_mutex);
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const auto entry = tracked.find(key(requests[i]));
    if (!entry || entry->kind != Tracked::Kind::Grid) continue;
    GridRequest& request = grid_request(*entry);
    if (!request.listed) request.advance();
    if (request.op && request.finished) return i;
  }
  return -1;
}

}  // namespace isthmus::face
