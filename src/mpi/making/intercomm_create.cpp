// MPI_Intercomm_create. The leaders tell each other their groups on the peer communicator, with the
// tag that is given, and then their members: from there on everybody knows both sides, and what
// follows is the same wherever they lie.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kFunction = "MPI_Intercomm_create";

struct Leaders {
  MPI_Comm local_comm;
  int local_leader;
  bool leading;  ///< this process is the local leader; the rest is its own
  MPI_Comm peer_comm;
  int remote_leader;
  int tag;
};

/// What the other leader says, for what this one does; nothing after an error, which has been
/// raised on the peer communicator.
std::optional<std::vector<std::int32_t>> hear_remote(const Leaders& leaders,
                                                     const std::vector<std::int32_t>& words) {
  if (leaders.peer_comm == MPI_COMM_NULL || leaders.remote_leader == MPI_PROC_NULL) {
    return std::nullopt;
  }
  MPI_Request sent = MPI_REQUEST_NULL;
  int code = isthmus_Isend(words.data(), static_cast<int>(words.size()), MPI_INT32_T,
                           leaders.remote_leader, leaders.tag, leaders.peer_comm, &sent);
  if (code != MPI_SUCCESS) return std::nullopt;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  code = isthmus_Mprobe(leaders.remote_leader, leaders.tag, leaders.peer_comm, &message, &status);
  std::vector<std::int32_t> theirs;
  if (code == MPI_SUCCESS) {
    int number = 0;
    native.Get_count(&status, MPI_INT32_T, &number);
    theirs.resize(static_cast<std::size_t>(number));
    code = isthmus_Mrecv(theirs.data(), number, MPI_INT32_T, &message, MPI_STATUS_IGNORE);
  }
  isthmus_Wait(&sent, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return std::nullopt;
  return theirs;
}

/// The leader's words for all members of my side. Throws where it has none.
std::vector<std::int32_t> tell(const Leaders& leaders,
                               const std::optional<std::vector<std::int32_t>>& words) {
  std::int32_t number = words ? static_cast<std::int32_t>(words->size()) : -1;
  if (isthmus_Bcast(&number, 1, MPI_INT32_T, leaders.local_leader, leaders.local_comm) !=
      MPI_SUCCESS) {
    throw coll::Failure(MPI_ERR_OTHER, "the local communicator failed");
  }
  if (number < 0) {
    throw coll::Failure(MPI_ERR_COMM,
                        "the leaders could not reach each other on the peer communicator");
  }
  std::vector<std::int32_t> told(static_cast<std::size_t>(number));
  if (words) told = *words;
  if (isthmus_Bcast(told.data(), number, MPI_INT32_T, leaders.local_leader, leaders.local_comm) !=
      MPI_SUCCESS) {
    throw coll::Failure(MPI_ERR_OTHER, "the local communicator failed");
  }
  return told;
}

struct Meeting {
  Sides sides;
  std::uint64_t context;  ///< the same on all members of both
};

/// Two words are what a leader offers as the context, the others its group.
Meeting meet_remote(const Leaders& leaders) {
  core::Group local = group_of_comm(leaders.local_comm);
  std::vector<std::int32_t> mine;
  std::optional<std::vector<std::int32_t>> theirs;
  if (leaders.leading) {
    const std::uint64_t offer = fresh_context();
    mine = {static_cast<std::int32_t>(offer >> 32), static_cast<std::int32_t>(offer)};
    for (const int member : local.ranks()) mine.push_back(member);
    theirs = hear_remote(leaders, mine);
    // The members need the other group and the context alone.
    if (theirs && theirs->size() > 2 && local.world_rank(0) < (*theirs)[2]) {
      (*theirs)[0] = mine[0];
      (*theirs)[1] = mine[1];
    }
  }
  const std::vector<std::int32_t> told = tell(leaders, theirs);
  Meeting meeting{{std::move(local), core::Group::of(std::span(told).subspan(2))},
                  static_cast<std::uint64_t>(static_cast<std::uint32_t>(told[0])) << 32 |
                      static_cast<std::uint32_t>(told[1])};
  if (meeting.sides.local.intersect(meeting.sides.remote).size() > 0) {
    throw coll::Failure(MPI_ERR_COMM, "the two sides have members in common");
  }
  return meeting;
}

/// Whether all members of both sides have succeeded.
bool both_succeeded(const Leaders& leaders, bool mine) {
  std::int32_t all = mine ? 1 : 0;
  const std::int32_t own = all;
  if (isthmus_Allreduce(&own, &all, 1, MPI_INT32_T, MPI_MIN, leaders.local_comm) != MPI_SUCCESS) {
    all = 0;
  }
  std::optional<std::vector<std::int32_t>> theirs;
  if (leaders.leading) theirs = hear_remote(leaders, {all});
  return all != 0 && tell(leaders, theirs).front() != 0;
}

int native_create(const Leaders& leaders, MPI_Comm* result) {
  const GridComm* const peer = leaders.leading ? find_comm(leaders.peer_comm) : nullptr;
  const int remote = peer ? peer->native_rank_of(leaders.remote_leader) : leaders.remote_leader;
  const auto create = [&] {
    const NativeCreation creation;
    return parked(native.Intercomm_create, leaders.local_comm, leaders.local_leader,
                  leaders.peer_comm, remote, leaders.tag, result);
  };
  const int code = create();
  settle_handles();
  return code;
}

int create(const Leaders& leaders, MPI_Comm* newintercomm) {
  const auto [sides, context] = meet_remote(leaders);
  if (within_cluster(sides.local) && within_cluster(sides.remote)) {
    return native_create(leaders, newintercomm);
  }
  const auto make = [&](MPI_Comm* made) {
    MPI_Comm part = MPI_COMM_NULL;
    const int code = native_part_of(sides.whole(), context, leaders.local_comm, &part);
    return code == MPI_SUCCESS ? finish_intercomm(sides, context, part, made) : code;
  };
  return make_together(
      make, [&](bool mine) { return both_succeeded(leaders, mine); }, newintercomm);
}

}  // namespace

ISTHMUS_MPI(Intercomm_create)
(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
 MPI_Comm* newintercomm) {
  const auto natively = [&] {
    return parked(native.Intercomm_create, local_comm, local_leader, peer_comm, remote_leader, tag,
                  newintercomm);
  };
  if (depth > 0 || !grid() || local_comm == MPI_COMM_NULL) return natively();
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
  return shielded(local_comm, kFunction, [&] {
    if (local) require_intracomm(*local);
    if (!sound) {
      throw coll::Failure(MPI_ERR_RANK, "the local leader is not a rank of the communicator");
    }
    return create({local_comm, local_leader, rank == local_leader, peer_comm, remote_leader, tag},
                  newintercomm);
  });
}

}  // namespace isthmus::face
