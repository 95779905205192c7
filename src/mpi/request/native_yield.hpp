// Open MPI's progress loop gives its core away after each look that found nothing, where ranks are
// more than cores. A thread that looks at two networks in turn would so come to each of them only
// after the others have had two turns or three; it withholds that, and gives way itself.
#pragma once

namespace isthmus::face::native_yield {

/// Finds out what the native library does by itself. Once it is initialized, before the first wait.
void learn();

/// Has native calls give way (`may`), where they do so by themselves, or not.
void allow(bool may);

/// While one lives, native calls do not give way. Any thread; other threads' calls in the meantime
/// do not either.
class Withheld {
 public:
  Withheld() { allow(false); }
  ~Withheld() { allow(true); }
  Withheld(const Withheld&) = delete;
  Withheld& operator=(const Withheld&) = delete;
};

}  // namespace isthmus::face::native_yield
