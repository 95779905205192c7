#include "mpi/native/native.hpp"

#include "mpi/native/entry.hpp"

namespace isthmus::face {

Native native{};
constinit thread_local int depth __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace isthmus::face
