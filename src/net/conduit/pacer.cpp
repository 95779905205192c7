#include "net/conduit/pacer.hpp"

#include <algorithm>
#include <utility>

#include "net/conduit/conduit_driver.hpp"

namespace isthmus::net {
namespace {

std::chrono::steady_clock::time_point at(core::Time time) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
}

}  // namespace

void Pacer::set_rate(double bytes_per_second) {
  rate_ = bytes_per_second;
  pace_.set(bytes_per_second, now());
}

void Pacer::share_with(double part, core::Pace::Time round_trip, std::function<void(double)> tell) {
  if (rate_ <= 0) return;
  claim_.emplace(rate_, round_trip);
  tell_ = std::move(tell);
  share(part);
}

void Pacer::share(double part) {
  pace_.share(part, now());
  if (waiting_.empty() || closed_) return;
  armed_ = false;  // what they wait for is another time now
  arm();
}

bool Pacer::may_send(const ConduitDriver& driver) {
  if (!pace_.limited()) return true;
  return (waiting_.empty() || served_ == &driver) && pace_.may_send(now());
}

void Pacer::sent(std::size_t bytes) {
  if (!pace_.limited()) return;
  pace_.sent(bytes);
  if (!claim_) return;
  claim_->sent(bytes, now());
  look();
}

void Pacer::wait(const std::shared_ptr<ConduitDriver>& driver) {
  if (closed_) return;
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(),
                                 [&](const auto& weak) { return weak.lock() == driver; });
  if (!waits) waiting_.push_back(driver);
  if (claim_) {
    claim_->held_back(now());
    look();
  }
  if (served_ == nullptr) arm();
}

void Pacer::arm() {
  if (std::exchange(armed_, true)) return;
  timer_.expires_at(at(pace_.next(now())));
  timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    self->armed_ = false;
    self->serve();
  });
}

// A conduit that is not done goes to the end of the queue.
void Pacer::serve() {
  for (auto turns = waiting_.size(); turns > 0 && pace_.may_send(now()); --turns) {
    const auto driver = waiting_.front().lock();
    waiting_.pop_front();
    if (!driver || driver->closed()) continue;
    served_ = driver.get();
    driver->take_turn();
    served_ = nullptr;
    if (closed_) return;
  }
  if (!waiting_.empty()) arm();
}

// Reports what is due, and looks again when that may have changed.
void Pacer::look() {
  if (closed_) return;
  if (const auto part = claim_->news(now())) tell_(*part);
  const auto next = claim_->deadline();
  if (!next || std::exchange(claim_armed_, true)) return;
  claim_timer_.expires_at(at(*next));
  claim_timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closed_) return;
    self->claim_armed_ = false;
    self->claim_->look(now());
    self->look();
  });
}

void Pacer::close() {
  closed_ = true;
  timer_.cancel();
  claim_timer_.cancel();
}

}  // namespace isthmus::net
