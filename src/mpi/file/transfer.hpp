// Reading and writing grid files, in every form, for the generated entries
// (tools/generate/files.py). The file's handler raises errors.
#pragma once

#include "mpi/file/grid_file.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// The starting point in the view: an argument, the process's own pointer, or the shared pointer,
/// in any order or in rank order.
enum class Place { Explicit, Individual, Shared, Ordered };

struct Way {
  Direction direction;
  Place place;
  bool collective;
  const char* function;  ///< a string literal
};

int transfer(const GridFileRef& file, const Way& way, MPI_Offset offset, const Memory& memory,
             MPI_Status* status);
int transfer_at_once(const GridFileRef& file, const Way& way, MPI_Offset offset,
                     const Memory& memory, MPI_Request* request);
int begin_split(const GridFileRef& file, const Way& way, MPI_Offset offset, const Memory& memory);
int end_split(const GridFileRef& file, const Way& way, void* buffer, MPI_Status* status);

}  // namespace isthmus::face
