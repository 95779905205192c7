// The view of each process on a grid file.
#include <array>
#include <cstring>

#include "mpi/datatype/datatype.hpp"
#include "mpi/file/file_error.hpp"
#include "mpi/file/file_info.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

MPI_Datatype copy_of(MPI_Datatype type) {
  if (is_predefined(type)) return type;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  native.Type_dup(type, &copy);
  return copy;
}

void release(MPI_Datatype& type) {
  if (type != MPI_DATATYPE_NULL && !is_predefined(type)) free_type(&type);
}

ViewOfFile view_by(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                   const RepresentationRef& representation) {
  require(displacement >= 0, MPI_ERR_ARG, "the displacement is negative");
  require(etype != MPI_DATATYPE_NULL && filetype != MPI_DATATYPE_NULL, MPI_ERR_TYPE,
          "a datatype of the view is MPI_DATATYPE_NULL");
  const core::TypeMap elementary = representation->in_file(etype);
  const core::TypeMap tile = representation->in_file(filetype);
  require(elementary.size() > 0, MPI_ERR_ARG, "the elementary datatype has no data");
  require(tile.size() % elementary.size() == 0, MPI_ERR_ARG,
          "the filetype is not made of whole elementary datatypes");
  require(tile.true_lower() >= 0, MPI_ERR_ARG, "the filetype has a negative displacement");
  require(tile.grows(), MPI_ERR_ARG, "the displacements of the filetype decrease");
  return {.displacement = displacement,
          .etype = copy_of(etype),
          .filetype = copy_of(filetype),
          .representation = representation,
          .etype_size = elementary.size(),
          .seen = {displacement, tile},
          .gathering = nullptr};
}

/// The view that `make` gives. If one process's view is wrong, all throw; that process gives the
/// reason.
template <class Make>
ViewOfFile view_by_all(const GridFile& file, MPI_Info info, Make&& make) {
  constexpr std::int64_t kWrong = -1;
  constexpr const char* kUntold = "the file's processes could not tell each other their views";
  struct Told {
    std::int64_t etype_size = kWrong;
    std::array<char, 128> representation{};
    GatherTerms gathering;
    auto numbers() { return std::tie(etype_size, gathering); }
  } mine;
  ViewOfFile view;
  try {
    view = make();
  } catch (const MpiError&) {
    tell_all(file, mine, kUntold);
    throw;
  }
  mine.etype_size = view.etype_size;
  view.representation->name().copy(mine.representation.data(), mine.representation.size());
  mine.gathering = gather_terms(file, view.seen, info);
  std::vector<GatherTerms> gathering;
  for (const Told& each : tell_all(file, mine, kUntold)) {
    gathering.push_back(each.gathering);
    const bool same_size = each.etype_size == mine.etype_size;
    if (same_size && each.representation == mine.representation) continue;
    release_view(view);
    if (each.etype_size == kWrong) throw MpiError(MPI_ERR_OTHER, "another process's view is wrong");
    throw MpiError(MPI_ERR_NOT_SAME,
                   same_size ? "the processes give different representations"
                             : "the elementary datatypes of the processes differ in size");
  }
  view.gathering = agree_on_gathering(file, view.seen, gathering);
  return view;
}

}  // namespace

void release_view(ViewOfFile& view) {
  release(view.etype);
  release(view.filetype);
}

// coverage:
ISTHMUS_MPI(File_set_view)
(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
 MPI_Info info) {
  const auto file = grid_file(fh);
  if (!file) return parked(native.File_set_view, fh, disp, etype, filetype, datarep, info);
  constexpr const char* kSetView = "MPI_File_set_view";
  return shielded_file(fh, kSetView, [&] {
    const bool sequential = (file->amode & MPI_MODE_SEQUENTIAL) != 0;
    require(sequential == (disp == MPI_DISPLACEMENT_CURRENT), MPI_ERR_ARG,
            sequential ? "of a file opened with MPI_MODE_SEQUENTIAL the displacement must be "
                         "MPI_DISPLACEMENT_CURRENT"
                       : "MPI_DISPLACEMENT_CURRENT is for files opened with MPI_MODE_SEQUENTIAL");
    if (sequential) {
      std::int64_t etypes = 0;
      file->run(kSetView, [&] { etypes = file->file->add_shared(0); });
      const ViewOfFile now = file->view_now();
      disp = now.seen.offset_of(etypes * now.etype_size);
    }
    ViewOfFile view = view_by_all(
        *file, info, [&] { return view_by(disp, etype, filetype, representation_named(datarep)); });
    run_together(*file, kSetView, [&] { file->file->set_view(view.seen); });
    {
      const core::Lock lock(file->mutex);
      std::swap(file->view, view);
      file->position = 0;
    }
    release_view(view);
    if (file->keeper) remove_shared_number(*file, kSetView);
    meet_all(*file);
  });
}

// coverage:
ISTHMUS_MPI(File_get_view)
(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_view(fh, disp, etype, filetype, datarep);
  return shielded_file(fh, "MPI_File_get_view", [&] {
    const core::Lock lock(file->mutex);
    *disp = file->view.displacement;
    *etype = copy_of(file->view.etype);
    *filetype = copy_of(file->view.filetype);
    std::strcpy(datarep, file->view.representation->name().c_str());
  });
}

namespace {

std::int64_t extent_in(GridFile& file, MPI_Datatype datatype) {
  require(datatype != MPI_DATATYPE_NULL, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  return file.view_now().representation->in_file(datatype).extent();
}

}  // namespace

// coverage:
ISTHMUS_MPI(File_get_type_extent)(MPI_File fh, MPI_Datatype datatype, MPI_Aint* extent) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_type_extent(fh, datatype, extent);
  return shielded_file(fh, "MPI_File_get_type_extent",
                       [&] { *extent = static_cast<MPI_Aint>(extent_in(*file, datatype)); });
}

#if ISTHMUS_HAS_File_get_type_extent_c
ISTHMUS_MPI(File_get_type_extent_c)(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_type_extent_c(fh, datatype, extent);
  return shielded_file(fh, "MPI_File_get_type_extent_c",
                       [&] { *extent = extent_in(*file, datatype); });
}
#endif

// coverage:
ISTHMUS_MPI(File_get_byte_offset)(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_byte_offset(fh, offset, disp);
  return shielded_file(fh, "MPI_File_get_byte_offset", [&] {
    require(offset >= 0, MPI_ERR_ARG, "the offset is negative");
    const core::Lock lock(file->mutex);
    *disp = file->view.seen.offset_of(offset * file->view.etype_size);
  });
}

}  // namespace isthmus::face
