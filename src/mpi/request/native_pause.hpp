// What labs preload into ranks (lab/nospin.cpp) has a thread whose looks at the native library
// found nothing wait there for up to a millisecond. Who waits for the grid must not: it looks at
// two networks, and would be late for what comes by the other.
#pragma once

namespace isthmus::face::native_pause {

/// Finds out whether there is such a library. Once, before the first wait.
void learn();

/// While one lives, this thread's native calls do not wait.
class Withheld {
 public:
  Withheld();
  ~Withheld();
  Withheld(const Withheld&) = delete;
  Withheld& operator=(const Withheld&) = delete;
};

/// Within a Withheld: native calls may wait after all, since they are all that is waited for.
class Allowed {
 public:
  Allowed();
  ~Allowed();
  Allowed(const Allowed&) = delete;
  Allowed& operator=(const Allowed&) = delete;
};

}  // namespace isthmus::face::native_pause
