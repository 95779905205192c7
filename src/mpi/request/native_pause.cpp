#include "mpi/request/native_pause.hpp"

#include <dlfcn.h>

namespace isthmus::face::native_pause {
namespace {

using Withhold = void (*)(int);
Withhold withhold = nullptr;  // null: not preloaded

}  // namespace

void learn() {
  withhold = reinterpret_cast<Withhold>(dlsym(RTLD_DEFAULT, "isthmus_nospin_withhold"));
}

Withheld::Withheld() {
  if (withhold != nullptr) withhold(1);
}
Withheld::~Withheld() {
  if (withhold != nullptr) withhold(-1);
}
Allowed::Allowed() {
  if (withhold != nullptr) withhold(-1);
}
Allowed::~Allowed() {
  if (withhold != nullptr) withhold(1);
}

}  // namespace isthmus::face::native_pause
