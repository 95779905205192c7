// An error of a file: the system's error number, which decides the class of the MPI error, and a
// sentence.
#pragma once

#include <stdexcept>
#include <string>

namespace isthmus::file {

struct Error : std::runtime_error {
  Error(int number_, const std::string& sentence) : std::runtime_error(sentence), number(number_) {}
  int number;  ///< an errno
};

/// `doing` ("cannot open /data/x") and the meaning of `number`.
[[noreturn]] void fail(const std::string& doing, int number);

}  // namespace isthmus::file
