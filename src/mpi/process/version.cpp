#include <algorithm>
#include <cstring>
#include <string>

#include "mpi/native/entry.hpp"

using namespace isthmus::face;

// coverage: says "Isthmus VERSION over" and the native text
ISTHMUS_MPI(Get_library_version)(char* version, int* resultlen) {
  char theirs[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  const int code = native.Get_library_version(theirs, &length);
  if (code != MPI_SUCCESS) return code;
  std::string text = "Isthmus " ISTHMUS_VERSION " over " +
                     std::string(theirs, static_cast<std::size_t>(std::max(length, 0)));
  text.resize(std::min<std::size_t>(text.size(), MPI_MAX_LIBRARY_VERSION_STRING - 1));
  std::memcpy(version, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}
