// What becomes of files that the program has open when it leaves MPI. An interface, since the room
// of files may not be included where MPI is left.
#pragma once

#include <atomic>

namespace isthmus::face {

class FilesLeftOpen {
 public:
  /// What this process wrote is in the files when this returns, or is told to be missing. All
  /// processes are still in the grid.
  virtual void settle() = 0;
  /// All processes have settled.
  virtual void tidy() = 0;

 protected:
  ~FilesLeftOpen() = default;
};

/// Null: no file was opened. Never destroyed.
inline std::atomic<FilesLeftOpen*> files_left_open{nullptr};

}  // namespace isthmus::face
