// Errors of files: the system's errors as classes of MPI. The handler of the file raises them, or
// that of MPI_FILE_NULL if the file does not exist yet.
#pragma once

#include "file/error.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {

/// The MPI error class of an errno.
int file_error_class(int number);
int file_error_code(const file::Error& error, const char* function);

/// Invokes the error handler of a file, or of MPI_FILE_NULL, with `code`, and returns what the MPI
/// function should return.
int raise_file(MPI_File file, int code, const char* function);

/// Runs `body` as `shielded` does; errors are the file's.
template <class Body>
int shielded_file(MPI_File file, const char* function, Body&& body) noexcept {
  return shielded_with([&](int code) { return raise_file(file, code, function); }, function,
                       [&]() -> int {
                         try {
                           return code_of(body);
                         } catch (const file::Error& error) {
                           throw Unraised{MPI_COMM_NULL, file_error_code(error, function)};
                         }
                       });
}

}  // namespace isthmus::face
