// The keys of info objects for grid communicators, and their effect.
#pragma once

#include <optional>

#include "coll/engine/forced.hpp"
#include "core/base/ids.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

struct Hints {
  coll::Forced forced;
  core::LinkChoice link = core::kAnyLink;
  bool reorders = false;
  bool reproducible = false;
};

/// The hints of `comm`, changed by the keys of `info`: "isthmus_coll" (the text of ISTHMUS_COLL),
/// "isthmus_link" (the name of a link, "direct", "gateway" or ""), "isthmus_reorder" and
/// "isthmus_reproducible" ("true" or "false"). The same on all members. Throws
/// std::invalid_argument if the first is wrong, and MpiError with MPI_ERR_INFO_VALUE if another is.
Hints hints_by(MPI_Info info, const GridCommRef& comm);

/// Whether a topology made of `comm` may move ranks, by "isthmus_reorder" in `info` or by `comm`.
bool reorders_by(MPI_Info info, const GridComm& comm);

/// The value of "isthmus_reproducible". Throws as hints_by.
std::optional<bool> reproducible_by(MPI_Info info);

/// Applies the hints to `comm` from now on.
void heed(const GridCommRef& comm, const Hints& hints);

}  // namespace isthmus::face
