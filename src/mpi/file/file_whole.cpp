// Functions for grid files as a whole: sizes, modes, groups, consistency.
#include "mpi/file/file_error.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

void require_writable(const GridFile& file) {
  require((file.amode & MPI_MODE_RDONLY) == 0, MPI_ERR_READ_ONLY,
          "the file was opened with MPI_MODE_RDONLY");
}

/// A change of the size, which one process makes for all.
template <class Change>
int change_size(const GridFileRef& file, const char* function, MPI_Offset size, Change&& change) {
  return shielded_file(file->handle, function, [&] {
    require_writable(*file);
    require((file->amode & MPI_MODE_SEQUENTIAL) == 0, MPI_ERR_UNSUPPORTED_OPERATION,
            "the file was opened with MPI_MODE_SEQUENTIAL");
    require_same(*file, size, "the processes give different sizes");
    require(size >= 0, MPI_ERR_ARG, "the size is negative");
    // Earlier writes come before it.
    run_together(*file, function, [&] { file->file->settle(); });
    together(*file, [&] {
      if (file->keeper) change();
    });
  });
}

}  // namespace

// coverage:
ISTHMUS_MPI(File_set_size)(MPI_File fh, MPI_Offset size) {
  const auto file = grid_file(fh);
  if (!file) return parked(native.File_set_size, fh, size);
  return change_size(file, "MPI_File_set_size", size, [&] { file->file->resize(size); });
}

// coverage:
ISTHMUS_MPI(File_preallocate)(MPI_File fh, MPI_Offset size) {
  const auto file = grid_file(fh);
  if (!file) return parked(native.File_preallocate, fh, size);
  return change_size(file, "MPI_File_preallocate", size, [&] { file->file->preallocate(size); });
}

// coverage:
ISTHMUS_MPI(File_get_size)(MPI_File fh, MPI_Offset* size) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_size(fh, size);
  constexpr const char* kGet = "MPI_File_get_size";
  return shielded_file(fh, kGet, [&] { file->run(kGet, [&] { *size = file->file->size(); }); });
}

// coverage:
ISTHMUS_MPI(File_get_group)(MPI_File fh, MPI_Group* group) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_group(fh, group);
  return isthmus_Comm_group(file->comm, group);
}

// coverage:
ISTHMUS_MPI(File_get_amode)(MPI_File fh, int* amode) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_amode(fh, amode);
  *amode = file->amode;
  return MPI_SUCCESS;
}

// coverage: by locks on ranges of the file, which other programs see as well
ISTHMUS_MPI(File_set_atomicity)(MPI_File fh, int flag) {
  const auto file = grid_file(fh);
  if (!file) return parked(native.File_set_atomicity, fh, flag);
  constexpr const char* kSet = "MPI_File_set_atomicity";
  return shielded_file(fh, kSet, [&] {
    require_same(*file, flag != 0 ? 1 : 0, "the processes give different atomicities");
    file->atomic = flag != 0;
    run_together(*file, kSet, [&] { file->file->settle(); });
  });
}

// coverage:
ISTHMUS_MPI(File_get_atomicity)(MPI_File fh, int* flag) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_atomicity(fh, flag);
  *flag = file->atomic ? 1 : 0;
  return MPI_SUCCESS;
}

// coverage:
ISTHMUS_MPI(File_sync)(MPI_File fh) {
  const auto file = grid_file(fh);
  if (!file) return parked(native.File_sync, fh);
  constexpr const char* kSync = "MPI_File_sync";
  return shielded_file(fh, kSync, [&] { run_together(*file, kSync, [&] { file->file->sync(); }); });
}

}  // namespace isthmus::face
