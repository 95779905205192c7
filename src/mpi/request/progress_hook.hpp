// A callback in the native library's own progress loop: Open MPI's opal_progress_register, MPICH's
// MPIX_Async_start (4.2 and newer).
#pragma once

namespace isthmus::face::progress_hook {

/// Whether the native library has a hook that may call MPI; `multiple`: at MPI_THREAD_MULTIPLE.
bool available(bool multiple);

/// Makes the progress loop call pump() from now on, until nothing is outstanding. Any thread.
void add();
/// Takes the callback out, before the native MPI_Finalize begins.
void end();

}  // namespace isthmus::face::progress_hook
