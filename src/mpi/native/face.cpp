#include "mpi/native/face.hpp"

#include <dlfcn.h>

#include "mpi/native/native.hpp"

namespace isthmus::face {
namespace {

void* native_library = nullptr;
char* (*find_setting)(const char* name) = nullptr;

}  // namespace

void* native_function(const char* symbol) {
  void* const function = dlsym(native_library, symbol);
  return function ? function : dlsym(native_library, symbol + 1);  // PMPI_X, else MPI_X
}

char* setting(const char* name) { return find_setting(name); }

bool profiles() { return setting("ISTHMUS_PROFILE") != nullptr; }

}  // namespace isthmus::face

const isthmus::face::FaceFunction* isthmus_face_open(void* library,
                                                     char* (*setting)(const char* name)) {
  isthmus::face::find_setting = setting;
  isthmus::face::native_library = library;
  isthmus::face::load_native(isthmus::face::native, library);
  return isthmus::face::profiles() ? isthmus::face::kProfiledFunctions
                                   : isthmus::face::kFaceFunctions;
}
