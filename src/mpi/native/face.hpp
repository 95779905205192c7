// What the entry stub (src/preload) sees of a face.
#pragma once

#include <cstddef>

namespace isthmus::face {

/// One function that the face knows: `name` is one of include/isthmus.h's questions
/// ("isthmus_topology_link") or one of Fortran's calls, which the stub hands on, or an MPI name
/// ("MPI_Send"); the stub routes it and its profiling name to `function`, or to the native library
/// where that is null. A function that is not in the table is newer than the mpi.h of this face:
/// what it would do to grid objects is not known, so it cannot be called. A table is sorted and
/// ends with {nullptr, nullptr}.
struct FaceFunction {
  const char* name;
  void* function;
};

/// Generated.
extern const FaceFunction kFaceFunctions[];
/// The same where ISTHMUS_PROFILE is set: calls that communicate are counted first (profile/).
extern const FaceFunction kProfiledFunctions[];

/// The value of a variable that `isthmus run` left for this rank; null where there is none. The
/// environment of the process has them no more.
char* setting(const char* name);

/// Whether calls that communicate are counted, so that functions are to be those of
/// kProfiledFunctions.
bool profiles();

/// A function of the native library that mpi.h may not declare; null where there is none.
void* native_function(const char* symbol);

}  // namespace isthmus::face

/// The one symbol that a face exports. `library` is the open native libmpi, `setting` what the
/// function of that name asks. Fills the table of native functions and returns the functions that
/// the stub should route here.
extern "C" __attribute__((visibility("default"))) const isthmus::face::FaceFunction*
isthmus_face_open(void* library, char* (*setting)(const char* name));
