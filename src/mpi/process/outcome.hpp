// The end of making a communicator: all members learn whether all have succeeded.
#pragma once

#include <functional>

#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Makes this member's part of a communicator: returns a native error code (raised) or throws.
using MakePart = std::function<int(MPI_Comm* result)>;
/// Makes a communicator whose members agree on the outcome. If one member's part cannot be made (a
/// native library may run out of context ids), all get an error and none a communicator. `agree`
/// returns whether all have succeeded, given whether this member has. Returns an MPI error code
/// (raised) or throws.
int make_together(const MakePart& make, const std::function<bool(bool)>& agree, MPI_Comm* result);

}  // namespace isthmus::face
