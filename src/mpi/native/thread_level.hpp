// The thread level of the program (MPI-4.1 section 11.6.2). The native library may run at a higher
// one, for a helper thread of ours (native_progress.hpp).
#pragma once

namespace isthmus::face {

/// Sets the answer of MPI_Query_thread; otherwise the native library answers.
void set_thread_level(int level);

/// True when the program runs at MPI_THREAD_MULTIPLE. After MPI_Init only.
bool threads_multiple();

}  // namespace isthmus::face
