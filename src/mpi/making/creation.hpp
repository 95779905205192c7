// What blocking native functions that make communicators need to be told of duplications under way.
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
/// called it. Without this, Open MPI (4.1 and 5.0) has it wait for every duplication under way in
/// this process whose parent came into being earlier, although other members may begin theirs only
/// afterwards. While it lives no duplication begins. Local, and free where none is under way.
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
