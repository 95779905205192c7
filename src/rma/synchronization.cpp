// The origin's side: locks, flushes, and the synchronization of posts and starts.
#include <utility>
#include <vector>

#include "rma/partner.hpp"
#include "rma/record.hpp"
#include "rma/window.hpp"

namespace isthmus::rma {

void Window::lock(int rank, LockType type) {
  if (type == LockType::Shared && !asked_.empty()) type = LockType::Passing;
  // With several locks none is plainly shared: at the second, the first begins to pass.
  if (asked_.size() == 1 && asked_.begin()->second == LockType::Shared) {
    auto& [first, asked] = *asked_.begin();
    asked = LockType::Passing;
    if (!granted(first)) {
      std::vector<std::byte> records;
      RecordWriter(records).put(Kind::Pass);
      tell(first, std::move(records));
    }
  }
  asked_[rank] = type;
  Partner& to = towards(rank);
  ++to.locks_asked;
  RecordWriter(to.batch).put(Kind::Lock).put(static_cast<std::uint8_t>(type));
}

bool Window::granted(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || to->locks_granted >= to->locks_asked;
}

// The next number is for all operations so far.
void Window::ask_number(Partner& to) {
  to.unflushed = false;
  ++to.asked;
  if (std::exchange(to.unlanded, false)) to.landing_asked = to.asked;
}

bool Window::open(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || (to->locks_granted >= to->locks_asked && to->posts >= to->starts);
}

bool Window::caught_up(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || to->caught_up();
}

std::uint64_t Window::unlock(int rank) {
  asked_.erase(rank);
  Partner& to = towards(rank);
  ask_number(to);
  RecordWriter(to.batch).put(Kind::Unlock).put(to.asked);
  send_batch(rank, to);
  return to.asked;
}

std::uint64_t Window::flush(int rank) {
  Partner& to = partner(rank);
  if (to.unflushed) {
    ask_number(to);
    RecordWriter(to.batch).put(Kind::Flush).put(to.asked);
  }
  send_batch(rank, to);
  return to.asked;
}

bool Window::done(int rank, std::uint64_t number) const {
  const Partner* const to = find(rank);
  return to == nullptr || (to->answered >= number && local_done(rank));
}

bool Window::local_done(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || (to->apart == 0 && to->fetches == 0);
}

bool Window::take_failure(int rank) { return std::exchange(partner(rank).failed, false); }

void Window::post(int rank) {
  std::vector<std::byte> records;
  RecordWriter(records).put(Kind::Post);
  tell(rank, std::move(records));
}

void Window::start(int rank) {
  Partner& to = towards(rank);
  send_batch(rank, to);
  ++to.starts;
}

void Window::complete(int rank) {
  Partner& to = towards(rank);
  RecordWriter(to.batch).put(Kind::Complete);
  to.unflushed = true;
  if (to.unlanded) {  // no caller waits for the number, but the target must be able to keep all
                      // that is sent
    ask_number(to);
    RecordWriter(to.batch).put(Kind::Flush).put(to.asked);
  }
  send_batch(rank, to);
}

bool Window::all_sent(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || (to->held.empty() && to->batch.empty());
}

bool Window::has_completed(int rank) const {
  const Partner* const from = find(rank);
  return from != nullptr && from->completes > 0;
}

void Window::take_complete(int rank) { --partner(rank).completes; }

}  // namespace isthmus::rma
