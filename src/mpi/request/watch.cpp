#include "mpi/request/watch.hpp"

#include <algorithm>

#include "mpi/native/thread_level.hpp"

namespace isthmus::face {
namespace {

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
    if (s.entry.object == nullptr) continue;
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
  const core::Lock lock(progress_mutex);
  bool all_started = true;
  std::size_t left = 0;
  for (Seen* const s : pending_.all()) {
    const Needs needs = s->entry.object->poll();
    if (needs == Needs::Nothing) continue;
    if (needs == Needs::Start) all_started = false;
    pending_.all()[left++] = s;
  }
  pending_.shrink(left);
  return all_started;
}

const Watch::Pending* Watch::pending() {
  if (!may_lose() || pending_.empty()) return nullptr;
  const core::Lock lock(progress_mutex);
  for (const Seen* const s : pending_.all()) {
    const Complaint complaint = s->entry.object->pending();
    if (complaint.error == MPI_SUCCESS) continue;
    return &pending_error_.emplace(Pending{s->index, complaint});
  }
  return nullptr;
}

void Watch::peek(const Seen& s, MPI_Status* status) const {
  if (status == nullptr) return;
  if (s.entry.object == nullptr) {
    status->MPI_SOURCE = s.entry.source;
    return;
  }
  const core::Lock lock(progress_mutex);
  s.entry.object->describe(*status);
}

Complaint Watch::settle(Seen& s, MPI_Status* status) const {
  s.settled = true;
  if (!taken_out_ && !s.entry.stays) tracked.erase(s.entry.key);
  if (s.entry.object == nullptr) {
    if (status != nullptr) status->MPI_SOURCE = s.entry.source;
    return {};
  }
  const core::Lock lock(progress_mutex);
  if (status != nullptr) s.entry.object->describe(*status);
  return s.entry.object->settle();
}

int finished_among(int count, const MPI_Request* requests) {
  if (tracked.only_receives() || requests == nullptr) return -1;
  const core::Lock lock(progress_mutex);
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const auto entry = tracked.find(key(requests[i]));
    if (entry && entry->object != nullptr && entry->object->finished()) return i;
  }
  return -1;
}

}  // namespace isthmus::face
