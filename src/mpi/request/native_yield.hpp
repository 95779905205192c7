// Open MPI's progress loop yields its core after each look that found nothing, if ranks outnumber
// cores. A thread that looks at two networks in turn would so come to each of them only after two
// or three turns of the others. It prevents these yields, and yields itself.
#pragma once

namespace isthmus::face::native_yield {

/// Reads the native library's own setting. Once it is initialized, before the first wait.
void learn();

/// Makes native calls yield (`may`), if they do so by themselves, or not.
void allow(bool may);

/// While one lives, native calls do not yield. Any thread; this holds for other threads' calls in
/// the meantime, too.
class Withheld {
 public:
  Withheld() { allow(false); }
  ~Withheld() { allow(true); }
  Withheld(const Withheld&) = delete;
  Withheld& operator=(const Withheld&) = delete;
};

}  // namespace isthmus::face::native_yield
