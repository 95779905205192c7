// The error of an operation of MPI.
#pragma once

#include <stdexcept>
#include <string>

namespace isthmus {

/// `code` is an error class of the native MPI library, or any number in tests. The text has the
/// cause in words.
struct MpiError : std::runtime_error {
  MpiError(int code_, const std::string& sentence) : std::runtime_error(sentence), code(code_) {}
  int code;
};

}  // namespace isthmus
