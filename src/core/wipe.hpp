// Secrets leave no copies behind.
#pragma once

#include <cstring>
#include <string>

namespace isthmus::core {

/// Overwrites the bytes in place. The string is empty afterwards.
inline void wipe(std::string& text) {
  explicit_bzero(text.data(), text.size());
  text.clear();
}

}  // namespace isthmus::core
