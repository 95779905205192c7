#include "mpi/file/file_info.hpp"

#include <vector>

#include "mpi/file/file_error.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

std::string hint_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return "";
  std::vector<char> value(MPI_MAX_INFO_VAL + 1);
  int found = 0;
  if (native.Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS) return "";
  return found != 0 ? value.data() : "";
}

MPI_Info hints_in_use(MPI_Info info, const std::string& home) {
  MPI_Info made = MPI_INFO_NULL;
  const int code = info == MPI_INFO_NULL ? native.Info_create(&made) : native.Info_dup(info, &made);
  require_success(code, "the hints could not be copied");
  native.Info_set(made, kHomeHint, home.c_str());
  return made;
}

// coverage: hints of others are kept, and change nothing
ISTHMUS_MPI(File_set_info)(MPI_File fh, MPI_Info info) {
  const auto file = grid_file(fh);
  if (!file) return native.File_set_info(fh, info);
  return shielded_file(fh, "MPI_File_set_info", [&] {
    MPI_Info made = hints_in_use(info, file->home);
    std::swap(made, file->info);
    native.Info_free(&made);
    meet_all(*file);
  });
}

// coverage:
ISTHMUS_MPI(File_get_info)(MPI_File fh, MPI_Info* info_used) {
  const auto file = grid_file(fh);
  if (!file) return native.File_get_info(fh, info_used);
  return shielded_file(fh, "MPI_File_get_info",
                       [&] { return native.Info_dup(file->info, info_used); });
}

}  // namespace isthmus::face
