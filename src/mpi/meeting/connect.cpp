// MPI_Comm_accept and MPI_Comm_connect (MPI-4.1 sections 11.9.2 and 11.9.3).

#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sides.hpp"
#include "mpi/meeting/info.hpp"
#include "mpi/meeting/port.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// The root alone knows what kind of port it is.
bool agree_on_kind(MPI_Comm comm, int root, const char* port_name) {
  int rank = 0;
  isthmus_Comm_rank(comm, &rank);
  const Side side{comm, root, rank == root, {}};
  return tell(side, [&]() -> Words {
           require(port_name != nullptr, MPI_ERR_PORT, "the port's name is a null pointer");
           return {is_own_port(port_name) ? 1 : 0};
         }).front() != 0;
}

template <class Native>
int meet(At what, Native natively, const char* function, const char* port_name, MPI_Info info,
         int root, MPI_Comm comm, MPI_Comm* newcomm) {
  const auto by_library = [&] { return parked(natively, port_name, info, root, comm, newcomm); };
  if (native_call() || comm == MPI_COMM_NULL || newcomm == nullptr) return by_library();
  const GridCommRef found = share_comm(comm);
  int inter = 0;
  if (const int code = isthmus_Comm_test_inter(comm, &inter); code != MPI_SUCCESS) return code;
  int size = 0;
  isthmus_Comm_size(comm, &size);
  const bool sound = inter == 0 && root >= 0 && root < size;
  if (!sound && !found) return by_library();  // the library judges
  return shielded(comm, function, [&] {
    if (found) require_intracomm(*found);
    require(sound, MPI_ERR_ROOT, "the root is not a rank of the communicator");
    if (agree_on_kind(comm, root, port_name)) {
      const auto port = [&] { return PortCall{port_name, timeout_of(info)}; };
      return meet_at_port(what, port, root, comm, newcomm);
    }
    require(!found, MPI_ERR_PORT,
            "the port is the native library's, which no communicator of several clusters reaches");
    return settled(by_library());
  });
}

}  // namespace

// coverage: the sides may lie in any clusters, and be of several runs
ISTHMUS_MPI(Comm_accept)
(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet(At::Accept, native.Comm_accept, "MPI_Comm_accept", port_name, info, root, comm,
              newcomm);
}

// coverage: as MPI_Comm_accept; waits until the other accepts
ISTHMUS_MPI(Comm_connect)
(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet(At::Connect, native.Comm_connect, "MPI_Comm_connect", port_name, info, root, comm,
              newcomm);
}

}  // namespace isthmus::face
