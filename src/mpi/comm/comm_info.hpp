// What an info object says of a grid communicator.
#pragma once

#include "coll/engine/forced.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// `base`, changed by the info's key "isthmus_coll" (the text of ISTHMUS_COLL) where it has one.
/// Throws std::invalid_argument where that is wrong.
coll::Forced forced_by(MPI_Info info, const coll::Forced& base);

}  // namespace isthmus::face
