// A library that labs preload into ranks (lab/nospin.cpp) delays looks at the native library that
// found nothing, for up to a millisecond. A thread that waits for the grid must not be delayed: it
// looks at two networks, and would notice the other's events late.
#pragma once

namespace isthmus::face::native_pause {

/// Checks if the process has that library. Once, before the first wait.
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
