// The border between C++ and the MPI program: exceptions become MPI errors, raised through the
// error handler of the object concerned.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/calling.hpp"
#include "mpi/process/error.hpp"

namespace isthmus::face {

/// The end of a call: a code, and whether it is yet to be raised, on `comm` or (MPI_COMM_NULL) on
/// the object concerned.
struct CallEnd {
  int code;
  bool unraised;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// What `body` returns; MPI_SUCCESS if it returns nothing.
template <class Body>
int code_of(Body&& body) {
  if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
    std::forward<Body>(body)();
    return MPI_SUCCESS;
  } else {
    return std::forward<Body>(body)();
  }
}

template <class Body>
CallEnd run_call(const char* function, Body&& body) {
  const Calling here(function);
  const auto made = [&](int error_class, const char* reason) {
    return CallEnd{error_code(error_class, function, reason), true};
  };
  try {
    return {code_of(std::forward<Body>(body)), false};
  } catch (const Unraised& failure) {
    return {failure.code, true, failure.comm};
  } catch (const MpiError& failure) {
    return made(failure.code, failure.what());
  } catch (const std::invalid_argument& failure) {
    return made(MPI_ERR_ARG, failure.what());
  } catch (const std::bad_alloc&) {
    return made(MPI_ERR_NO_MEM, "out of memory");
  } catch (const std::exception& failure) {
    return made(MPI_ERR_OTHER, failure.what());
  } catch (...) {
    return made(MPI_ERR_OTHER, "unknown failure");
  }
}

/// Runs `body`, which returns nothing, or an MPI error code that has already been raised (a native
/// function raises its own). An exception goes to `raise_it(code)`, after all else: MpiError with
/// its error class, Unraised to its communicator.
template <class Raise, class Body>
int shielded_with(Raise&& raise_it, const char* function, Body&& body) noexcept {
  try {
    const CallEnd end = run_call(function, std::forward<Body>(body));
    if (!end.unraised) return end.code;
    return end.comm == MPI_COMM_NULL ? raise_it(end.code) : raise(end.comm, end.code, function);
  } catch (...) {
    return MPI_ERR_OTHER;
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
