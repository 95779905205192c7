#include "mpi/request/native_yield.hpp"

#include "core/base/debug_off.hpp"
#include "mpi/native/face.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face::native_yield {

#if defined(OPEN_MPI)

namespace {

using Set = bool (*)(bool);
Set set = nullptr;  // null: the library does not yield, or has no switch

}  // namespace

void learn() {
  if (core::off(core::Mechanism::NativeYield)) return;
  const auto found = reinterpret_cast<Set>(native_function("opal_progress_set_yield_when_idle"));
  if (found == nullptr || !found(false)) return;
  found(true);
  set = found;
}

void allow(bool may) {
  if (set != nullptr) set(may);
}

#else

void learn() {}
void allow(bool) {}

#endif

}  // namespace isthmus::face::native_yield
