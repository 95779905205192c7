// Declares a function of the face: ISTHMUS_MPI(Send)(const void* buf, ...) { ... } defines both
// MPI_Send and PMPI_Send of the program. The build scans the sources for these lines, and a
// function with one is ours. Other functions that name a communicator, group, request, message,
// window, file or session get a generated guard (see tools/generate). The rest go straight to the
// native library. Entries of collectives, files and messages are generated from tables
// (tools/generate/collectives.py, files.py, forwards.py). A comment line `// coverage: ...`
// directly above is shown in docs/coverage.md.
#pragma once

#include "mpi/native/native.hpp"

#define ISTHMUS_MPI(name) extern "C" int isthmus_##name

namespace isthmus::face {

/// True while this thread is inside the native library on behalf of Isthmus. (Or the library has
/// re-entered through the PLT, as ROMIO does.) Entries then pass straight through. One word of
/// thread-local storage; constinit and initial-exec, so that reading it is one load.
extern constinit thread_local int depth __attribute__((tls_model("initial-exec")));

/// Whether a call comes from within the native library: it is not the program's.
inline bool inner_call() { return depth != 0; }

/// Held around native calls that may re-enter.
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// Held around calls back into the program (reduction operators, attribute copy functions, error
/// handlers), which may call MPI as the program does.
class Outside {
 public:
  Outside() : saved_(depth) { depth = 0; }
  ~Outside() { depth = saved_; }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  int saved_;
};

}  // namespace isthmus::face
