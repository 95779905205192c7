// What an agent says when a request cannot be met.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace isthmus::daemon {

/// A sentence that says what is wrong and where, and what can be done about it (may be empty).
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& sentence, std::string remedy = {})
      : std::runtime_error(sentence), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// Of a name that leads to nothing.
class NoSuchProgram : public Failure {
 public:
  using Failure::Failure;
};

/// Of a program that runs natively, but cannot be part of a grid.
class Unwearable : public Failure {
 public:
  using Failure::Failure;
};

}  // namespace isthmus::daemon
