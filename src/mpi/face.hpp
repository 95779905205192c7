// What the entry stub (src/preload) sees of a face.
#pragma once

#include <cstddef>

namespace isthmus::face {

/// One function of the face: `name` is an MPI name ("MPI_Send"); the stub routes it and its
/// profiling name here. A table ends with {nullptr, nullptr}.
struct FaceFunction {
  const char* name;
  void* function;
};

/// Generated: entries and guards.
extern const FaceFunction kFaceFunctions[];

}  // namespace isthmus::face

/// The one symbol that a face exports. `library` is the open native libmpi. Fills the table of
/// native functions and returns the functions that the stub should route here.
extern "C" __attribute__((visibility("default"))) const isthmus::face::FaceFunction*
isthmus_face_open(void* library);
