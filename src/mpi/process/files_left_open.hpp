// Handles files that the program has open when it leaves MPI. An interface, since the room of files
// may not be included in the code that leaves MPI.
#pragma once

#include <atomic>

namespace isthmus::face {

class FilesLeftOpen {
 public:
  /// When this returns, the data that this process wrote is in the files, or reported as missing.
  /// All processes are still in the grid.
  virtual void settle() = 0;
  /// All processes have settled.
  virtual void tidy() = 0;

 protected:
  ~FilesLeftOpen() = default;
};

/// Null: no file was opened. Never destroyed.
inline std::atomic<FilesLeftOpen*> files_left_open{nullptr};

}  // namespace isthmus::face
