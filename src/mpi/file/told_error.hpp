// An error of a file in one process, sent to others, which raise it too.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <tuple>

#include "file/error.hpp"

namespace isthmus::face {

/// Holds no pointers. A long sentence is cut.
struct ToldError {
  int number = 0;  ///< an errno; 0: no error
  std::array<char, 512> text{};
  auto numbers() { return std::tie(number); }

  ToldError() = default;
  explicit ToldError(const file::Error& error) : number(error.number) {
    std::strncpy(text.data(), error.what(), text.size() - 1);
  }
};

/// Throws the first that is one.
inline void throw_first(std::span<const ToldError> all) {
  for (const ToldError& each : all) {
    if (each.number != 0) throw file::Error(each.number, each.text.data());
  }
}

}  // namespace isthmus::face
