// Operations of the program on grid windows: arguments are checked and translated, then handed to
// rma::Window.
#pragma once

#include <memory>

#include "mpi/request/request.hpp"
#include "mpi/rma/window.hpp"

namespace isthmus::face {

/// A buffer of the program.
template <class Address>
struct Typed {
  Address address;
  MPI_Count count;
  MPI_Datatype type;
};
using Source = Typed<const void*>;
using Destination = Typed<void*>;

/// The target that the program names in a window.
struct Remote {
  int rank;
  MPI_Aint displacement;  ///< in the target's units
  MPI_Count count;
  MPI_Datatype type;
};

/// The rest of an operation, still to be done or awaited. The caller of the plain forms leaves it
/// to the window; that of the request forms makes a request of it. Null: the operation is complete.
using Rest = std::unique_ptr<Operation>;

/// All throw MpiError. `as_request`: the returned Rest unpacks the data that comes.
Rest put(GridWindow& window, const Source& from, const Remote& to, bool as_request);
Rest get(GridWindow& window, const Destination& into, const Remote& from, bool as_request);
Rest accumulate(GridWindow& window, const Source& from, const Remote& to, MPI_Op op,
                bool as_request);
Rest get_accumulate(GridWindow& window, const Source& from, const Destination& before,
                    const Remote& to, MPI_Op op, bool as_request);
void compare_and_swap(GridWindow& window, const void* swap, const void* compare, void* before,
                      const Remote& to);

/// Unpacks what has come for gets to `rank` (or all: -1) whose data was not to lie in a row.
void unpack_gets(GridWindow& window, int rank);

}  // namespace isthmus::face
