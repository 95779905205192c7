// The part of a face that the entry stub (src/preload) sees.
#pragma once

namespace isthmus::face {

/// One function that the face knows. `name` is an MPI name ("MPI_Send"), one of include/isthmus.h's
/// functions ("isthmus_topology_link") or one of Fortran's calls, which the stub hands on. The stub
/// routes it and its profiling name to `function`, or to the native library if that is null. A
/// function outside of the table is newer than the mpi.h of this face. Its effect on grid objects
/// is unknown, so it cannot be called. A table is sorted and ends with {nullptr, nullptr}.
struct FaceFunction {
  const char* name;
  void* function;
};

/// Generated.
extern const FaceFunction kFaceFunctions[];
/// The same for ISTHMUS_PROFILE: calls that communicate are counted first (profile/).
extern const FaceFunction kProfiledFunctions[];

/// The value of a variable that `isthmus run` left for this rank, or null. The environment of the
/// process does not have them any more.
char* setting(const char* name);

/// Whether calls that communicate are counted, so that kProfiledFunctions apply.
bool profiles();

/// A function of the native library that mpi.h may not declare, or null.
void* native_function(const char* symbol);

}  // namespace isthmus::face

/// The one symbol that a face exports. `library` is the open native libmpi, `setting` the function
/// behind setting() above. Fills the table of native functions and returns the functions that the
/// stub should route here.
extern "C" __attribute__((visibility("default"))) const isthmus::face::FaceFunction*
isthmus_face_open(void* library, char* (*setting)(const char* name));
