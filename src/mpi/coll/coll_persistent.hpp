// Persistent collectives of grid communicators: each start is a collective like any other, with
// the arguments of the initialisation.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/reduction.hpp"

namespace isthmus::face {

/// Arguments that stay valid whatever the program does with its own handles.
class KeptArguments {
 public:
  /// MPI_DATATYPE_NULL and MPI_OP_NULL stand for what is not significant.
  KeptArguments(const std::vector<MPI_Datatype>& types, MPI_Op op);
  const MPI_Datatype* types() const { return types_.data(); }

 private:
  std::vector<KeptType> kept_;
  std::vector<MPI_Datatype> types_;
  std::unique_ptr<KeptOp> op_;
};

/// Begins the collective with these datatypes.
using Begin = std::function<int(const MPI_Datatype* types, const Call& call)>;

/// Makes the persistent request of a collective, which has these significant datatypes. `call` is
/// without pointers. Wrong arguments are raised here, as `begin` does.
int init_collective(const Call& call, MPI_Request* request, std::vector<MPI_Datatype> types,
                    MPI_Op op, Begin begin);

}  // namespace isthmus::face
