#include "mpi/making/native_group.hpp"

#include "mpi/comm/survival.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {

void inherit_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (native.Comm_get_errhandler(from, &handler) != MPI_SUCCESS) return;
  native.Comm_set_errhandler(to, handler);
  native.Errhandler_free(&handler);
}

int create_native_group(MPI_Comm parent, const SessionRef& session, MPI_Group members,
                        std::uint64_t context, int tag, MPI_Comm* made) {
  const Shadow& shadow = *grid()->shadow;
  const bool by_shadow = may_lose() && !session && shadow.comm != MPI_COMM_NULL;
  const Inside inside;
  int code = MPI_SUCCESS;
  {
    const NativeCreation creation;
    code =
        parked(native.Comm_create_group, by_shadow ? shadow.comm : parent, members,
               by_shadow ? traffic::creation_tag(context, tag, shadow.tag_upper_bound) : tag, made);
  }
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) inherit_handler(parent, *made);
  return code;
}

}  // namespace isthmus::face
