// Where a file is, as its name and hints say (docs/files.md).
#pragma once

#include <string>

#include "mpi/native/native.hpp"

namespace isthmus::face {

struct FileHome {
  int cluster = -1;  ///< index; -1: neither the name nor a hint says
  std::string path;  ///< there
};
/// Throws coll::Failure for a cluster that the grid does not have, and for no name.
FileHome home_of(const std::string& filename, MPI_Info info);

}  // namespace isthmus::face
