// Checks of arguments.
#pragma once

#include "coll/engine/party.hpp"

namespace isthmus::face {

/// Throws MpiError with an error class and its sentence, unless `condition`.
inline void require(bool condition, int error_class, const char* sentence) {
  if (!condition) throw MpiError(error_class, sentence);
}

/// Throws MpiError if a native function returned an error.
inline void require_success(int code, const char* sentence) {
  if (code != MPI_SUCCESS) throw MpiError(code, sentence);
}

}  // namespace isthmus::face
