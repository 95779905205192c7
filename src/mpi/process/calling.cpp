#include "mpi/process/calling.hpp"

namespace isthmus::face {

constinit thread_local const char* calling = nullptr;

}  // namespace isthmus::face
