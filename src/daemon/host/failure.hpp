// The errors of an agent that cannot meet a request.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace isthmus::daemon {

/// The remedy for a process or thread that the system refuses.
inline constexpr const char* kRaiseLimit =
    "Raise the limit on processes and threads (ulimit -u, or pids.max of the control group).";

/// A sentence that says what is wrong and where, and what can be done about it (may be empty).
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& sentence, std::string remedy = {})
      : std::runtime_error(sentence), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// No program has this name.
class NoSuchProgram : public Failure {
 public:
  using Failure::Failure;
};

/// The program runs natively, but cannot be part of a grid.
class Unwearable : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace isthmus::daemon
