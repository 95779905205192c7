// What the starts of persistent collectives keep of their arguments.
#pragma once

#include <vector>

#include "mpi/coll/coll_persistent.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/native/large_count.hpp"

namespace isthmus::face {

/// The datatype of a buffer that may be MPI_IN_PLACE.
inline MPI_Datatype significant(const void* buffer, MPI_Datatype type) {
  return buffer == MPI_IN_PLACE ? MPI_DATATYPE_NULL : type;
}
inline MPI_Datatype at(bool here, MPI_Datatype type) { return here ? type : MPI_DATATYPE_NULL; }

}  // namespace isthmus::face
