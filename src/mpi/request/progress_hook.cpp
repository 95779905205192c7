#include "mpi/request/progress_hook.hpp"

#include "core/base/mutex.hpp"
#include "mpi/native/face.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face::progress_hook {
namespace {

core::Mutex mutex;
bool added GUARDED_BY(mutex) = false;
bool closing GUARDED_BY(mutex) = false;

/// Called from within the progress loop; `leave()` takes the callback out. The library may hold
/// locks of its own here, so this may not wait for another thread: pump() does not, and the mutex
/// is only tried. True: the callback is out.
template <class Leave>
bool called(Leave&& leave) {
  if (attending > 0) return false;
  if (grid() != nullptr) pump();
  if (!mutex.try_lock()) return false;
  const core::Lock lock(mutex, std::adopt_lock);
  if (!idle() && !closing) return false;
  added = false;
  leave();
  return true;
}

#if defined(OPEN_MPI)

using Register = int (*)(int (*)());
Register function(const char* name) { return reinterpret_cast<Register>(native_function(name)); }
Register to_register = nullptr, to_unregister = nullptr;

int callback() {
  called([] { to_unregister(callback); });
  return 0;
}

bool found(bool) {
  to_register = function("opal_progress_register");
  to_unregister = function("opal_progress_unregister");
  return to_register != nullptr && to_unregister != nullptr;
}
void insert() { to_register(callback); }
bool take_out() {
  to_unregister(callback);
  return true;
}

#elif defined(ISTHMUS_HAS_X_Async_start)

int callback(MPIX_Async_thing) {
  return called([] {}) ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}

// At MPI_THREAD_MULTIPLE, MPICH 5.0 holds a mutex around its callbacks that calls of MPI from
// within one want, too: "Resource deadlock avoided" (2026-11).
bool found(bool multiple) { return native.X_Async_start != nullptr && !multiple; }
void insert() { native.X_Async_start(callback, nullptr, MPIX_STREAM_NULL); }
bool take_out() { return false; }

#else

bool found(bool) { return false; }
void insert() {}
bool take_out() { return true; }

#endif

}  // namespace

bool available(bool multiple) { return found(multiple); }

void add() {
  const core::Lock lock(mutex);
  if (added || closing) return;
  added = true;
  insert();
}

// MPICH calls its callback until the callback reports that it is done; from now on it does so at
// once.
void end() {
  const core::Lock lock(mutex);
  closing = true;
  if (added && take_out()) added = false;
}

}  // namespace isthmus::face::progress_hook
