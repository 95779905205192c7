// The questions of a process to the launcher, and their answers (docs/control.md, "What ranks
// ask").
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/control/control_body.hpp"

namespace isthmus::net {

/// Thread-safe.
class Questions {
 public:
  /// Returns the question to send.
  control::Ask add(const std::string& request) {
    const std::lock_guard lock(mutex_);
    const control::Ask question{next_++, request};
    unanswered_[question.number] = question;
    return question;
  }
  /// In order. They are sent again if an answer may be lost: each gets the same answer again.
  std::vector<control::Ask> unanswered() const {
    const std::lock_guard lock(mutex_);
    std::vector<control::Ask> all;
    all.reserve(unanswered_.size());
    for (const auto& [number, question] : unanswered_) all.push_back(question);
    return all;
  }
  /// False: the answer is known, or nobody has asked.
  bool take(const control::Answer& answer) {
    const std::lock_guard lock(mutex_);
    if (unanswered_.erase(answer.number) == 0) return false;
    answers_[answer.number] = answer.reply;
    return true;
  }
  /// The answer, once; nothing while it has not come.
  std::optional<std::string> answer(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    auto found = answers_.extract(number);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, control::Ask> unanswered_;
  std::map<std::uint64_t, std::string> answers_;  // that nobody has taken
};

}  // namespace isthmus::net
