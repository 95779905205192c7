// The origin's side: locks, flushes, and the synchronization of posts and starts.
#include <utility>
#include <vector>

#include "rma/parcel.hpp"

namespace isthmus::rma {

void Origin::lock(int rank, LockType type) {
  if (type == LockType::Shared && !locked_.empty()) type = LockType::Passing;
  // With several locks none is plainly shared: at the second, the first begins to pass.
  if (locked_.size() == 1 && locked_.begin()->second == LockType::Shared) {
    auto& [first, locked] = *locked_.begin();
    locked = LockType::Passing;
    if (!granted(first)) {
      std::vector<std::byte> records;
      RecordWriter(records).put(Kind::Pass);
      channel_.post(first, std::move(records));
    }
  }
  locked_[rank] = type;
  Partner& to = towards(rank);
  to.gate.lock();
  RecordWriter(to.batch).put(Kind::Lock).put(static_cast<std::uint8_t>(type));
}

bool Origin::granted(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || to->gate.granted() || to->gate.failed();
}

// The next number is for all operations so far.
std::uint64_t Origin::ask_number(Partner& to) {
  to.unflushed = false;
  return to.gate.number(std::exchange(to.unlanded, false));
}

bool Origin::open(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || to->gate.open();
}

bool Origin::caught_up(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || to->caught_up();
}

std::uint64_t Origin::unlock(int rank) {
  locked_.erase(rank);
  Partner& to = towards(rank);
  RecordWriter(to.batch).put(Kind::Unlock).put(ask_number(to));
  send_batch(rank, to);
  return to.gate.last_number();
}

std::uint64_t Origin::flush(int rank) {
  Partner& to = partner(rank);
  if (to.unflushed) RecordWriter(to.batch).put(Kind::Flush).put(ask_number(to));
  send_batch(rank, to);
  return to.gate.last_number();
}

bool Origin::done(int rank, std::uint64_t number) const {
  const Partner* const to = find(rank);
  if (to == nullptr) return true;
  return (to->gate.answered(number) || to->gate.failed()) && local_done(rank);
}

bool Origin::local_done(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || (to->apart == 0 && to->fetches == 0);
}

bool Origin::take_loss(int rank) {
  const auto found = partners_.find(rank);
  return found != partners_.end() && std::exchange(found->second->lost, false);
}

std::optional<Failure> Origin::take_failure(int rank) {
  return std::exchange(partner(rank).failure, std::nullopt);
}

void Origin::start(int rank) {
  Partner& to = towards(rank);
  send_batch(rank, to);
  to.gate.start();
}

void Origin::complete(int rank) {
  Partner& to = towards(rank);
  RecordWriter(to.batch).put(Kind::Complete);
  to.unflushed = true;
  // No caller waits for the number, but the target must be able to keep all that is sent.
  if (to.unlanded) RecordWriter(to.batch).put(Kind::Flush).put(ask_number(to));
  send_batch(rank, to);
}

bool Origin::all_sent(int rank) const {
  const Partner* const to = find(rank);
  return to == nullptr || (to->held.empty() && to->batch.empty());
}

void Origin::take_post(int rank) {
  Partner& to = partner(rank);
  to.gate.posted();
  release(to);
}

bool Origin::take_grant(int rank) {
  Partner& to = partner(rank);
  if (!to.gate.grant()) return false;
  release(to);
  return true;
}

bool Origin::take_done(int rank, std::uint64_t number, std::optional<Failure> failure) {
  Partner& to = partner(rank);
  if (!to.gate.answer(number)) return false;
  if (failure) to.failure = std::move(failure);
  release(to);
  return true;
}

}  // namespace isthmus::rma
