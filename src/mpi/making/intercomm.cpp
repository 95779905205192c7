// Intercommunicators whose two sides lie in one cluster are native. Others are refused, and all
// callers hear of it: what only the leaders know they tell the members.
#include "mpi/comm/comm.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kFunction = "MPI_Intercomm_create";

struct Peer {
  MPI_Comm comm;
  int leader;
  int tag;
};

// Whether both leaders can do it natively. They speak as the standard lets them: on the peer
// communicator, with the tag that is given (MPI-4.1 section 7.6.2).
bool leaders_agree(bool native_side, const Peer& peer) {
  const GridComm* const g = find_comm(peer.comm);
  int mine = native_side && (!g || g->native_rank_of(peer.leader) >= 0) ? 1 : 0;
  int theirs = 0;
  const int code = isthmus_Sendrecv(&mine, 1, MPI_INT, peer.leader, peer.tag, &theirs, 1, MPI_INT,
                                    peer.leader, peer.tag, peer.comm, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && mine != 0 && theirs != 0;
}

}  // namespace
}  // namespace isthmus::face

using namespace isthmus::face;

// coverage: refused: unless both sides lie in one cluster
ISTHMUS_MPI(Intercomm_create)
(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
 MPI_Comm* newintercomm) {
  const auto natively = [&](int leader) {
    return parked(native.Intercomm_create, local_comm, local_leader, peer_comm, leader, tag,
                  newintercomm);
  };
  if (depth > 0 || !grid() || local_comm == MPI_COMM_NULL) return natively(remote_leader);
  const GridComm* const local = find_comm(local_comm);
  int rank = 0;
  int size = 0;
  const int code = isthmus_Comm_rank(local_comm, &rank);
  if (code != MPI_SUCCESS) return code;
  isthmus_Comm_size(local_comm, &size);
  const bool sound = local_leader >= 0 && local_leader < size;
  if (!sound && !local) return natively(remote_leader);  // the library judges

  int possible = 0;
  if (sound) {
    if (rank == local_leader && peer_comm != MPI_COMM_NULL) {
      possible = leaders_agree(!local, {peer_comm, remote_leader, tag}) ? 1 : 0;
    }
    const int told = isthmus_Bcast(&possible, 1, MPI_INT, local_leader, local_comm);
    if (told != MPI_SUCCESS) return told;
  }
  if (possible == 0) {
    return unsupported(local_comm, kFunction,
                       "intercommunicators across clusters are not supported yet");
  }
  const GridComm* const peer = rank == local_leader ? find_comm(peer_comm) : nullptr;
  return natively(peer ? peer->native_rank_of(remote_leader) : remote_leader);
}
