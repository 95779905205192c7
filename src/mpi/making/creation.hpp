// For blocking native functions that make communicators while duplications are under way.
#pragma once

namespace isthmus::face {

/// Counts a native MPI_Comm_idup that this process has begun and that has not ended.
class NativeIdup {
 public:
  NativeIdup();
  ~NativeIdup();
  NativeIdup(const NativeIdup&) = delete;
  NativeIdup& operator=(const NativeIdup&) = delete;
};

/// Held around a native function that makes a communicator and blocks until all its members have
/// called it. Without this, it waits in Open MPI (4.1 and 5.0) for every duplication under way in
/// this process with an older parent. Other members may begin those duplications only afterwards.
/// No duplication begins while it lives. Local, and free without duplications under way.
class NativeCreation {
 public:
  NativeCreation();
  ~NativeCreation();
  NativeCreation(const NativeCreation&) = delete;
  NativeCreation& operator=(const NativeCreation&) = delete;
};

/// Whether a NativeCreation lives.
bool creating_natively();

}  // namespace isthmus::face
