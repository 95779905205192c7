// MPI_Comm_create_from_group: as MPI_Comm_create_group from the grid's MPI_COMM_WORLD, which exists
// for Isthmus wherever there is a session.
#include <string>

#include "mpi/comm/group.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/comm_create_group.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/limits.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"

#ifdef ISTHMUS_HAS_Comm_create_from_group

namespace isthmus::face {
namespace {

constexpr const char* kFunction = "MPI_Comm_create_from_group";

/// Calls that overlap have different strings (MPI-4.1 section 7.4.2), and so, but for one in
/// thousands, different tags.
int tag_of(const char* text) {
  std::uint32_t mark = 0x811C'9DC5;  // FNV-1a: the same on hosts of every kind
  for (; *text != 0; ++text) mark = (mark ^ static_cast<unsigned char>(*text)) * 0x0100'0193;
  return static_cast<int>(mark % (static_cast<std::uint32_t>(limits().tag_upper_bound) + 1));
}

int create(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
           MPI_Comm* newcomm) {
  if (errhandler == MPI_ERRHANDLER_NULL) {
    throw coll::Failure(MPI_ERR_ARG, "the error handler is MPI_ERRHANDLER_NULL");
  }
  MPI_Comm made = MPI_COMM_NULL;
  const int code =
      create_group(*grid()->world_comm, group, tag_of(stringtag ? stringtag : ""), &made);
  if (code == MPI_SUCCESS && made != MPI_COMM_NULL) {
    native.Comm_set_errhandler(made, errhandler);
    if (info != MPI_INFO_NULL) isthmus_Comm_set_info(made, info);
  }
  *newcomm = made;
  return code;
}

}  // namespace

// coverage: as MPI_Comm_create_group of the grid's world
ISTHMUS_MPI(Comm_create_from_group)
(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
 MPI_Comm* newcomm) {
  if (depth != 0 || grid() == nullptr || group == MPI_GROUP_NULL || newcomm == nullptr) {
    return parked(native.Comm_create_from_group, group, stringtag, info, errhandler, newcomm);
  }
  return shielded_by(errhandler, kFunction,
                     [&] { return create(group, stringtag, info, errhandler, newcomm); });
}

}  // namespace isthmus::face

#endif
