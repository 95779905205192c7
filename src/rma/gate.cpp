#include "rma/gate.hpp"

#include <algorithm>

#include "rma/limits.hpp"

namespace isthmus::rma {

std::uint64_t Gate::number(bool landing) {
  ++numbers_;
  if (landing) asked_.landing = numbers_;
  return numbers_;
}

bool Gate::grant() {
  if (granted_ == asked_.locks) return false;
  ++granted_;
  return true;
}

bool Gate::answer(std::uint64_t number) {
  if (number > numbers_) return false;
  answered_ = std::max(answered_, number);
  return true;
}

bool Gate::may_go(const Message& message) const {
  if (message.behind.starts > posts_) return false;
  if (sent_behind_ > 0 && sent_behind_ + message.records > kBehind) return false;
  if (answers_due_ > 0 && answers_due_ + message.answers > kMostAnswers) return false;
  return !message.part || parts_ < kStreamed;
}

bool Gate::lets(const Message& message) {
  if (!held_up()) sent_behind_ = 0;
  if (!failed_ && !may_go(message)) return false;
  locks_sent_ = std::max(locks_sent_, message.behind.locks);
  landing_sent_ = std::max(landing_sent_, message.behind.landing);
  if (held_up()) sent_behind_ += message.records;
  answers_due_ += message.answers;
  if (message.part) ++parts_;
  return true;
}

}  // namespace isthmus::rma
