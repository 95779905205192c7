// The border between C++ and the MPI program: exceptions become MPI errors, raised through the
// error handler of the object concerned.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/error.hpp"

namespace isthmus::face {

/// The communicator whose error handler hears of errors that concern no communicator (of groups):
/// MPI-4.0 section 9.3; before, it was MPI_COMM_WORLD.
inline MPI_Comm errors_of_no_object() {
#if MPI_VERSION >= 4
  return MPI_COMM_SELF;
#else
  return MPI_COMM_WORLD;
#endif
}

/// Runs `body`, which returns an MPI error code that needs no more raising (a native function has
/// raised its own). What it throws is raised on `comm`: coll::Failure with its error class.
template <class Body>
int shielded(MPI_Comm comm, const char* function, Body&& body) noexcept {
  int error_class = MPI_ERR_OTHER;
  const char* reason = "unknown failure";
  try {
    try {
      return std::forward<Body>(body)();
    } catch (const coll::Failure& failure) {
      return raise(comm, error_code(failure.code, function, failure.what()), function);
    } catch (const std::invalid_argument& failure) {
      return raise(comm, error_code(MPI_ERR_ARG, function, failure.what()), function);
    } catch (const std::bad_alloc&) {
      error_class = MPI_ERR_NO_MEM;
      reason = "out of memory";
    } catch (const std::exception& failure) {
      return raise(comm, error_code(MPI_ERR_OTHER, function, failure.what()), function);
    }
    return raise(comm, error_code(error_class, function, reason), function);
  } catch (...) {
    return error_class;
  }
}

}  // namespace isthmus::face
