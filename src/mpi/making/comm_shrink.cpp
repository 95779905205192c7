#include "mpi/making/comm_shrink.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "coll/engine/party.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/native_group.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/survival/agreeing.hpp"

namespace isthmus::face {
namespace {

/// Flag of the outcome: this member has made its part.
constexpr std::uint32_t kMade = 1;

/// The native communicator of all members here: a cluster fails as a whole. Not by a collective of
/// the handle, since others of its members may have left one halfway.
int make_native_part(const GridComm& parent, std::uint64_t context, MPI_Comm* made) {
  constexpr int kTag = traffic::kPromisedTags;  // hardly the program's
  const Inside inside;
  MPI_Group members = MPI_GROUP_NULL;
  int code = native.Comm_group(parent.native, &members);
  if (code != MPI_SUCCESS) return code;
  code = create_native_group(parent.native, parent.session, members, context, kTag, made);
  native.Group_free(&members);
  return code;
}

/// The living members of `group`. `failed`: of the whole communicator.
core::Group living(const core::Group& group, const core::Group& failed) {
  std::vector<int> ranks;
  for (const int node : failed.nodes()) {
    if (const auto rank = group.rank_of(node)) ranks.push_back(*rank);
  }
  return group.exclude(ranks);
}

int make_sides(const GridComm& parent, const core::Decision& decision, MPI_Comm* made) {
  const core::Group failed = parent.inter->whole->group.include(decision.failed.ranks());
  const Sides sides{living(parent.inter->local, failed), living(parent.group, failed)};
  require(sides.local.size() > 0 && sides.remote.size() > 0, proc_failed(),
          "all members of one side have failed");
  MPI_Comm native_part = MPI_COMM_NULL;
  const int code = make_native_part(parent, decision.word, &native_part);
  if (code != MPI_SUCCESS) return code;
  return finish_intercomm(sides, decision.word, native_part, parent.session, made);
}

int make_part(const GridComm& parent, const core::Decision& decision, MPI_Comm* made) {
  if (parent.inter) return make_sides(parent, decision, made);
  MPI_Comm native_part = MPI_COMM_NULL;
  const int code = make_native_part(parent, decision.word, &native_part);
  if (code != MPI_SUCCESS) return code;
  const core::Group left = parent.group.exclude(decision.failed.ranks());
  return finish_comm(left, decision.word, native_part, nullptr, parent.session, made);
}

/// One member's part, and why it could not be made.
struct Part {
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  std::exception_ptr thrown;

  bool good() const { return code == MPI_SUCCESS && !thrown; }
  void drop() {
    if (made != MPI_COMM_NULL) isthmus_Comm_free(&made);
  }
};

Part try_part(const GridComm& parent, const core::Decision& decision) {
  Part part;
  try {
    part.code = make_part(parent, decision, &part.made);
  } catch (...) {
    part.thrown = std::current_exception();
  }
  return part;
}

}  // namespace

int shrink(const GridCommRef& comm, MPI_Comm* newcomm) {
  core::Decision decision = Agreeing(comm, 0, Agreeing::Call::Shrink).wait();
  while (true) {
    Part part = try_part(*comm, decision);
    core::Decision outcome = Agreeing(comm, part.good() ? kMade : 0, Agreeing::Call::Shrink).wait();
    if ((outcome.flags & kMade) == 0) {
      if (part.thrown) std::rethrow_exception(part.thrown);
      if (!part.good()) return part.code;
      part.drop();
      throw MpiError(MPI_ERR_OTHER,
                     "the native MPI library of another member could not make its part of the "
                     "communicator (it may have too many)");
    }
    if (outcome.failed == decision.failed) {
      *newcomm = part.made;
      return MPI_SUCCESS;
    }
    part.drop();  // more have failed meanwhile
    decision = std::move(outcome);
  }
}

}  // namespace isthmus::face
