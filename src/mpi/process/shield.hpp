// The border between C++ and the MPI program: exceptions become MPI errors, raised through the
// error handler of the object concerned.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/calling.hpp"
#include "mpi/process/error.hpp"

namespace isthmus::face {

/// Runs `body`, which returns an MPI error code that has already been raised (a native function
/// raises its own). An exception goes to `raise_it(code)`: MpiError with its error class.
template <class Raise, class Body>
int shielded_with(Raise&& raise_it, const char* function, Body&& body) noexcept {
  const Calling here(function);
  int error_class = MPI_ERR_OTHER;
  const char* reason = "unknown failure";
  try {
    try {
      return std::forward<Body>(body)();
    } catch (const MpiError& failure) {
      return raise_it(error_code(failure.code, function, failure.what()));
    } catch (const std::invalid_argument& failure) {
      return raise_it(error_code(MPI_ERR_ARG, function, failure.what()));
    } catch (const std::bad_alloc&) {
      error_class = MPI_ERR_NO_MEM;
      reason = "out of memory";
    } catch (const std::exception& failure) {
      return raise_it(error_code(MPI_ERR_OTHER, function, failure.what()));
    }
    return raise_it(error_code(error_class, function, reason));
  } catch (...) {
    return error_class;
  }
}

/// Raises on `comm`; MPI_COMM_NULL: the error belongs to no object.
template <class Body>
int shielded(MPI_Comm comm, const char* function, Body&& body) noexcept {
  return shielded_with([&](int code) { return raise(comm, code, function); }, function,
                       std::forward<Body>(body));
}
/// Raises by a handler that is for a communicator not made yet.
template <class Body>
int shielded_by(MPI_Errhandler handler, const char* function, Body&& body) noexcept {
  return shielded_with([&](int code) { return raise_by(handler, code, function); }, function,
                       std::forward<Body>(body));
}

}  // namespace isthmus::face
