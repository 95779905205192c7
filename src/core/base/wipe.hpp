// Secrets leave no copies behind.
#pragma once

#include <cstring>
#include <string>
#include <utility>

namespace isthmus::core {

/// Overwrites the bytes in place, also those left of a longer text. The string is empty afterwards.
inline void wipe(std::string& text) {
  text.resize(text.capacity());
  explicit_bzero(text.data(), text.size());
  text.clear();
}

/// A string that overwrites its bytes before it lets go of them. Short ones are inside the object,
/// so a moved one is overwritten, too.
class Secret : public std::string {
 public:
  using std::string::string;
  Secret() = default;
  Secret(std::string text) : std::string(text) { wipe(text); }  // NOLINT(*-explicit-*)
  Secret(const Secret& other) = default;
  Secret(Secret&& other) noexcept {
    swap(other);
    wipe(other);
  }
  Secret& operator=(Secret other) noexcept {
    swap(other);
    return *this;
  }
  ~Secret() { wipe(*this); }
};

}  // namespace isthmus::core
