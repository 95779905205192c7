// The individual and the shared pointers of grid files.

#include "mpi/file/file_error.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// The target of a seek, in etypes. Calls `current` only if needed.
template <class Current>
std::int64_t target(GridFile& file, const char* function, MPI_Offset offset, int whence,
                    Current&& current) {
  std::int64_t base = 0;
  if (whence == MPI_SEEK_CUR) {
    base = current();
  } else if (whence == MPI_SEEK_END) {
    std::int64_t size = 0;
    file.run(function, [&] { size = file.file->size(); });
    const ViewOfFile view = file.view_now();
    const std::int64_t etype = view.etype_size;
    base = (view.seen.seen_before(size) + etype - 1) / etype;
  } else {
    require(whence == MPI_SEEK_SET, MPI_ERR_ARG,
            "whence is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END");
  }
  require(base + offset >= 0, MPI_ERR_ARG, "the place is before the beginning of the view");
  return base + offset;
}

/// The same number for the same word in every library.
int as_in_lseek(int whence) {
  switch (whence) {
    case MPI_SEEK_SET:
      return SEEK_SET;
    case MPI_SEEK_CUR:
      return SEEK_CUR;
    case MPI_SEEK_END:
      return SEEK_END;
    default:
      return -1;
  }
}

void require_individual(const GridFile& file) {
  require((file.amode & MPI_MODE_SEQUENTIAL) == 0, MPI_ERR_UNSUPPORTED_OPERATION,
          "a file that was opened with MPI_MODE_SEQUENTIAL has a shared pointer alone");
}

std::int64_t shared_pointer(const GridFile& file, const char* function) {
  std::int64_t found = 0;
  file.run(function, [&] { found = file.file->add_shared(0); });
  return found;
}

}  // namespace

// coverage:
ISTHMUS_MPI(File_seek)(MPI_File fh, MPI_Offset offset, int whence) {
  const auto file = grid_file(fh);
  if (!file) return native.File_seek(fh, offset, whence);
  constexpr const char* kSeek = "MPI_File_seek";
  return shielded_file(fh, kSeek, [&] {
    require_individual(*file);
    const std::int64_t to = target(*file, kSeek, offset, whence, [&] {
      const core::Lock lock(file->mutex);
      return file->position;
    });
    const core::Lock lock(file->mutex);
    file->position = to;
  });
}

// coverage:
ISTHMUS_MPI(File_get_position)(MPI_File fh, MPI_Offset* offset) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_position(fh, offset);
  return shielded_file(fh, "MPI_File_get_position", [&] {
    require_individual(*file);
    const core::Lock lock(file->mutex);
    *offset = file->position;
  });
}

// coverage:
ISTHMUS_MPI(File_seek_shared)(MPI_File fh, MPI_Offset offset, int whence) {
  const auto file = grid_file(fh);
  if (!file) return parked(native.File_seek_shared, fh, offset, whence);
  constexpr const char* kSeek = "MPI_File_seek_shared";
  return shielded_file(fh, kSeek, [&] {
    require_same(*file, offset, "the processes seek to different places");
    require_same(*file, as_in_lseek(whence), "the processes seek from different places");
    const std::int64_t to =
        target(*file, kSeek, offset, whence, [&] { return shared_pointer(*file, kSeek); });
    meet_all(*file);  // all have looked
    if (file->rank == 0) file->run(kSeek, [&] { file->file->set_shared(to); });
    meet_all(*file);
  });
}

// coverage:
ISTHMUS_MPI(File_get_position_shared)(MPI_File fh, MPI_Offset* offset) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_position_shared(fh, offset);
  constexpr const char* kGet = "MPI_File_get_position_shared";
  return shielded_file(fh, kGet, [&] { *offset = shared_pointer(*file, kGet); });
}

}  // namespace isthmus::face
