// Checks of arguments.
#pragma once

#include "coll/engine/party.hpp"

namespace isthmus::face {

/// Throws coll::Failure with an error class and what is wrong, unless `condition`.
inline void require(bool condition, int error_class, const char* sentence) {
  if (!condition) throw coll::Failure(error_class, sentence);
}

}  // namespace isthmus::face
