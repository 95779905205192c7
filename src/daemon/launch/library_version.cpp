#include "daemon/launch/library_version.hpp"

#include <dlfcn.h>

#include <array>
#include <iostream>

namespace isthmus::daemon {

int print_library_version(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::cerr << dlerror() << std::endl;
    return 1;
  }
  using GetLibraryVersion = int (*)(char*, int*);
  const auto get = reinterpret_cast<GetLibraryVersion>(dlsym(library, "PMPI_Get_library_version"));
  if (get == nullptr) return 1;
  std::array<char, 16384> text{};  // MPI_MAX_LIBRARY_VERSION_STRING is at most 8192 anywhere
  int length = 0;
  if (get(text.data(), &length) != 0) return 1;
  std::cout << text.data() << std::endl;
  std::_Exit(0);  // the library may not like to be unloaded without having been started
}

}  // namespace isthmus::daemon
