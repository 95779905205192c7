// Hints of grid files.
#pragma once

#include <string>

#include "mpi/file/grid_file.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

inline constexpr const char* kHomeHint = "isthmus_home";  ///< a cluster's name
/// "false": clusters do not look whether they see the file themselves.
inline constexpr const char* kShareHint = "isthmus_share";
/// "false": accesses of a far file that follow each other do not look ahead.
inline constexpr const char* kAheadHint = "isthmus_ahead";
/// "false": collective writes of small pieces are not gathered.
inline constexpr const char* kGatherHint = "isthmus_gather";

/// The value of a hint; empty without it. Short of MPI_MAX_INFO_VAL.
std::string hint_of(MPI_Info info, const char* key);
/// A copy of `info` with Isthmus's own values. The caller frees it.
MPI_Info hints_in_use(MPI_Info info, const std::string& home);

/// Frees the datatypes of a view.
void release_view(ViewOfFile& view);

}  // namespace isthmus::face
