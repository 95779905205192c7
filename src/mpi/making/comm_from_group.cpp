// MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups: as MPI_Comm_create_group from
// the grid's MPI_COMM_WORLD, which exists for Isthmus wherever there is a session.
#include <cstdint>
#include <exception>
#include <memory>

#include "core/world/group.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/making/comm_create_group.hpp"
#include "mpi/making/from_group.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/limits.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"

#ifdef ISTHMUS_HAS_Comm_create_from_group

namespace isthmus::face {
namespace {

constexpr const char* kNoHandler = "the error handler is MPI_ERRHANDLER_NULL";

constexpr const char* kCreateFromGroup = "MPI_Comm_create_from_group";
constexpr const char* kInterFunction = "MPI_Intercomm_create_from_groups";

/// Calls that overlap have different strings (MPI-4.1 section 7.4.2). So their tags differ, except
/// for one in thousands.
int tag_of(const char* text) {
  if (text == nullptr) text = "";
  std::uint32_t mark = 0x811C'9DC5;  // FNV-1a: the same on hosts of every kind
  for (; *text != 0; ++text) mark = (mark ^ static_cast<unsigned char>(*text)) * 0x0100'0193;
  return static_cast<int>(mark % (static_cast<std::uint32_t>(limits().tag_upper_bound) + 1));
}

/// If sessions have buffers, native parts belong to the session natively, too.
int make_from_group(MPI_Group handle, const char* stringtag, MPI_Comm* made) {
  const core::Group group = group_of(handle);
  const FromGroup from{session_of_group(handle), stringtag == nullptr ? "" : stringtag};
  const FromGroup* const natively = sessions_have_buffers() ? &from : nullptr;
  if (natively == nullptr || is_grid_group(handle) || !group.rank_of(grid()->node)) {
    return create_group(*grid()->world_comm, group, tag_of(stringtag), natively, made);
  }
  require_success(native_from_group(handle, from.tag, made), kNotMadeNatively);
  settle_handles();
  return MPI_SUCCESS;
}

/// Applies the remaining arguments of the caller.
void dress(MPI_Comm made, MPI_Info info, MPI_Errhandler errhandler) {
  native.Comm_set_errhandler(made, errhandler);
  if (info != MPI_INFO_NULL) isthmus_Comm_set_info(made, info);
}

int create(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
           MPI_Comm* newcomm) {
  require(errhandler != MPI_ERRHANDLER_NULL, MPI_ERR_ARG, kNoHandler);
  MPI_Comm made = MPI_COMM_NULL;
  const int code = make_from_group(group, stringtag, &made);
  if (code == MPI_SUCCESS && made != MPI_COMM_NULL) dress(made, info, errhandler);
  *newcomm = made;
  return code;
}

/// A communicator for the time of a call; errors return.
class Passing {
 public:
  /// Null if it cannot be made: `make` fails.
  template <class Make>
  explicit Passing(const Make& make) noexcept {
    try {
      if (make(&comm_) != MPI_SUCCESS) comm_ = MPI_COMM_NULL;
    } catch (const std::exception&) {
      comm_ = MPI_COMM_NULL;  // the members learn that
    }
    if (comm_ != MPI_COMM_NULL) native.Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~Passing() {
    if (comm_ != MPI_COMM_NULL) isthmus_Comm_free(&comm_);
  }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The two leaders, in an order that both know.
core::Group leaders(int here, int there) {
  const core::Group mine = core::Group::range(here, 1);
  const core::Group other = core::Group::range(there, 1);
  return here < there ? mine.unite(other) : other.unite(mine);
}

/// The path to the other leader for MPI_Intercomm_create; this process leads `local`.
struct Remote {
  std::unique_ptr<Passing> peer;
  int rank = MPI_PROC_NULL;
};
Remote find_remote(const core::Group& local, MPI_Group handle, int leader, int tag) {
  if (handle == MPI_GROUP_NULL) return {};
  const core::Group remote = group_of(handle);
  if (leader < 0 || leader >= remote.size() || local.intersect(remote).size() > 0) return {};
  const int here = grid()->node;
  const int there = remote.node(leader);
  const auto make = [&](MPI_Comm* made) {
    return create_group(*grid()->world_comm, leaders(here, there), tag, nullptr, made);
  };
  return {std::make_unique<Passing>(make), here < there ? 1 : 0};
}

/// Uses two communicators: one of my side, and one of the leaders, which alone know both sides.
int create_inter(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
                 const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                 MPI_Comm* newintercomm) {
  const core::Group local = group_of(local_group);
  require(errhandler != MPI_ERRHANDLER_NULL, MPI_ERR_ARG, kNoHandler);
  require(local_leader >= 0 && local_leader < local.size(), MPI_ERR_RANK,
          "the local leader is not a rank of the local group");
  require(local.rank_of(grid()->node).has_value(), MPI_ERR_GROUP,
          "the calling process is not in the local group");
  const Passing side([&](MPI_Comm* made) { return make_from_group(local_group, stringtag, made); });
  require(side.get() != MPI_COMM_NULL, MPI_ERR_OTHER, "no communicator of the local group");
  Remote remote;
  if (local.node(local_leader) == grid()->node) {
    remote = find_remote(local, remote_group, remote_leader, tag_of(stringtag));
  }
  MPI_Comm made = MPI_COMM_NULL;
  const int code =
      create_intercomm(side.get(), local_leader, remote.peer ? remote.peer->get() : MPI_COMM_NULL,
                       remote.rank, 0, session_of_group(local_group), &made);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) error_class = class_of(code);
  require(code == MPI_SUCCESS, error_class, "the two groups could not be joined");
  dress(made, info, errhandler);
  *newintercomm = made;
  return MPI_SUCCESS;
}

}  // namespace

// coverage: as MPI_Comm_create_group of the grid's world
ISTHMUS_MPI(Comm_create_from_group)
(MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
 MPI_Comm* newcomm) {
  if (native_call() || group == MPI_GROUP_NULL || newcomm == nullptr) {
    return parked(native.Comm_create_from_group, group, stringtag, info, errhandler, newcomm);
  }
  return shielded_by(errhandler, kCreateFromGroup,
                     [&] { return create(group, stringtag, info, errhandler, newcomm); });
}

// coverage: as MPI_Intercomm_create between communicators of the groups
ISTHMUS_MPI(Intercomm_create_from_groups)
(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
 const char* stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  if (native_call() || local_group == MPI_GROUP_NULL || newintercomm == nullptr) {
    return parked(native.Intercomm_create_from_groups, local_group, local_leader, remote_group,
                  remote_leader, stringtag, info, errhandler, newintercomm);
  }
  return shielded_by(errhandler, kInterFunction, [&] {
    return create_inter(local_group, local_leader, remote_group, remote_leader, stringtag, info,
                        errhandler, newintercomm);
  });
}

}  // namespace isthmus::face

#endif
