// The location of a file, by its name and hints (docs/files.md).
#pragma once

#include <memory>
#include <string>

#include "core/world/world.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/file_service.hpp"

namespace isthmus::face {

struct FileHome {
  int cluster = -1;  ///< index; -1: neither the name nor a hint names one
  std::string path;  ///< there
};
/// Throws MpiError for a cluster that the grid does not have, and for no name.
FileHome home_of(const std::string& filename, MPI_Info info);

/// The cluster that the grid file names for files, or -1. Throws MpiError for one that the
/// grid does not have.
int home_of_grid();
/// Its index; -1 if the grid does not have it.
int cluster_named(const std::string& name);
/// The caller of the file service of a process there. Throws MpiError if that has none.
std::shared_ptr<file::Caller> caller_in(const core::Cluster& cluster);

}  // namespace isthmus::face
