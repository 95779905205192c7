// MPI_Intercomm_create: the leaders speak with each other on the peer communicator, with the tag
// that is given.
#include <optional>

#include "coll/engine/party.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sides.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kIntercommCreate = "MPI_Intercomm_create";

struct Peer {
  MPI_Comm comm;
  int leader;
  int tag;
};

/// Throws MpiError if the other leader has failed, or the peer communicator is revoked.
std::optional<Words> fail(const Peer& peer, int code) {
  const GridCommRef comm = is_loss(code) ? share_comm(peer.comm) : nullptr;
  if (const auto loss = comm ? loss_of(*comm, peer.leader) : std::nullopt) {
    throw MpiError(loss->error_class, loss->because);
  }
  return std::nullopt;
}

/// The other leader's words, in exchange for this one's. Empty after an error, which has been
/// raised on the peer communicator. Losses are thrown: the members hear of them.
std::optional<Words> exchange(const Peer& peer, const Words& words) {
  if (peer.comm == MPI_COMM_NULL || peer.leader == MPI_PROC_NULL) return std::nullopt;
  std::optional<Withheld> errors;
  if (may_lose()) errors.emplace();
  MPI_Request sent = MPI_REQUEST_NULL;
  int code = isthmus_Isend(words.data(), static_cast<int>(words.size()), MPI_INT32_T, peer.leader,
                           peer.tag, peer.comm, &sent);
  if (code != MPI_SUCCESS) return fail(peer, code);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  code = isthmus_Mprobe(peer.leader, peer.tag, peer.comm, &message, &status);
  Words theirs;
  if (code == MPI_SUCCESS) {
    int number = 0;
    native.Get_count(&status, MPI_INT32_T, &number);
    theirs.resize(static_cast<std::size_t>(number));
    code = isthmus_Mrecv(theirs.data(), number, MPI_INT32_T, &message, MPI_STATUS_IGNORE);
  }
  isthmus_Wait(&sent, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return fail(peer, code);
  return theirs;
}

int native_create(const Side& side, const Peer& peer, MPI_Comm* result) {
  const GridComm* const over = side.leading ? find_comm(peer.comm) : nullptr;
  const int remote = over ? over->native_rank_of(peer.leader) : peer.leader;
  const auto create = [&] {
    const NativeCreation creation;
    return parked(native.Intercomm_create, side.comm, side.leader, peer.comm, remote, peer.tag,
                  result);
  };
  return settled(create());
}

int create(const Side& side, const Peer& peer, MPI_Comm* newintercomm) {
  const Meeting meeting = meet_remote(side);
  if (within_cluster(meeting.sides.local) && within_cluster(meeting.sides.remote)) {
    if (meeting.undone) std::rethrow_exception(meeting.undone);
    return native_create(side, peer, newintercomm);
  }
  return join_sides(side, meeting, newintercomm);
}

}  // namespace

int create_intercomm(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                     int tag, const SessionRef& session, MPI_Comm* newintercomm) {
  const auto natively = [&] {
    return parked(native.Intercomm_create, local_comm, local_leader, peer_comm, remote_leader, tag,
                  newintercomm);
  };
  if (native_call() || local_comm == MPI_COMM_NULL) return natively();
  const GridCommRef local = share_comm(local_comm);
  int inter = 0;
  if (const int code = isthmus_Comm_test_inter(local_comm, &inter); code != MPI_SUCCESS) {
    return code;
  }
  int rank = 0;
  int size = 0;
  isthmus_Comm_rank(local_comm, &rank);
  isthmus_Comm_size(local_comm, &size);
  const bool sound = inter == 0 && local_leader >= 0 && local_leader < size;
  if (!sound && !local) return natively();  // the library judges
  return shielded(local_comm, kIntercommCreate, [&] {
    if (local) require_intracomm(*local);
    if (!sound) {
      throw MpiError(MPI_ERR_RANK, "the local leader is not a rank of the communicator");
    }
    const Peer peer{peer_comm, remote_leader, tag};
    const auto speak = [&](const Words& words) { return exchange(peer, words); };
    const Side side{local_comm, local_leader, rank == local_leader, speak, session};
    return create(side, peer, newintercomm);
  });
}

ISTHMUS_MPI(Intercomm_create)
(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
 MPI_Comm* newintercomm) {
  const GridComm* const local = find_comm(local_comm);
  return create_intercomm(local_comm, local_leader, peer_comm, remote_leader, tag,
                          local != nullptr ? local->session : nullptr, newintercomm);
}

}  // namespace isthmus::face
