// A thread of ours that advances outstanding operations while the program's threads cannot, if the
// native library has no hook. It calls MPI, so the library must run at MPI_THREAD_MULTIPLE.
#pragma once

namespace isthmus::face::progress_helper {

/// `always`: whenever something is outstanding. A program with threads needs this: one thread may
/// begin something while another is in the native library. Otherwise only while a thread is parked.
void start(bool always);
void stop();

/// Something is outstanding now.
void needed();
void parked();
void unparked();

}  // namespace isthmus::face::progress_helper
