#include "mpi/file/file_home.hpp"

#include <limits.h>

#include "mpi/file/file_error.hpp"
#include "mpi/file/file_info.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

int cluster_named(const std::string& name) {
  const auto& clusters = grid()->world().clusters;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int home_of_grid() {
  const char* const name = setting("ISTHMUS_FILES");
  if (name == nullptr || *name == 0) return -1;
  const int found = cluster_named(name);
  if (found < 0) {
    throw MpiError(MPI_ERR_BAD_FILE, std::string("\"files\" of the grid file names the cluster "
                                                 "\"") +
                                         name + "\", which is not in this run");
  }
  return found;
}

std::shared_ptr<file::Caller> caller_in(const core::Cluster& cluster) {
  // Processes of one far cluster ask different ones.
  require(!cluster.is_guest(), MPI_ERR_UNSUPPORTED_OPERATION,
          "the file is in a cluster of another run, whose files only communicators with processes "
          "of both open");
  require(cluster.size > 0, MPI_ERR_BAD_FILE,
          "the file is in a cluster where the program has no process");
  return file_caller(static_cast<core::NodeId>(cluster.first + grid()->node % cluster.size));
}

FileHome home_of(const std::string& filename, MPI_Info info) {
  require(!filename.empty() && filename.size() < PATH_MAX, MPI_ERR_BAD_FILE,
          "the file has no name, or one of more than 4095 bytes");
  FileHome home{.path = filename};
  if (const std::string hint = hint_of(info, kHomeHint); !hint.empty()) {
    home.cluster = cluster_named(hint);
    if (home.cluster < 0) {
      throw MpiError(MPI_ERR_BAD_FILE, "the hint isthmus_home names the cluster \"" + hint +
                                           "\", which the grid does not have");
    }
  }
  const std::size_t colon = filename.find(':');
  if (colon == std::string::npos) return home;
  const std::string prefix = filename.substr(0, colon);
  const int named = cluster_named(prefix);
  if (named >= 0) home.cluster = named;
  // ROMIO's way to name the kind of a file system, which the system itself knows.
  if (named >= 0 || prefix == "ufs" || prefix == "nfs") home.path = filename.substr(colon + 1);
  return home;
}

// coverage: where the file is; the native library's, of a file that this process sees
ISTHMUS_MPI(File_delete)(const char* filename, MPI_Info info) {
  if (native_call() || filename == nullptr) return native.File_delete(filename, info);
  constexpr const char* kDelete = "MPI_File_delete";
  return shielded_file(MPI_FILE_NULL, kDelete, [&]() -> int {
    const FileHome home = home_of(filename, info);
    const auto mine = static_cast<int>(grid()->cluster);
    if (home.cluster < 0) return native.File_delete(filename, info);
    if (home.cluster == mine) return native.File_delete(home.path.c_str(), info);
    const auto caller = caller_in(grid()->world().clusters[static_cast<std::size_t>(home.cluster)]);
    run_on_worker(MPI_COMM_SELF, kDelete, [&] { file::remove_there(*caller, home.path); });
    return MPI_SUCCESS;
  });
}

}  // namespace isthmus::face
