#include "mpi/face.hpp"

#include "mpi/native.hpp"

const isthmus::face::FaceFunction* isthmus_face_open(void* library) {
  isthmus::face::load_native(isthmus::face::native, library);
  return isthmus::face::kFaceFunctions;
}
