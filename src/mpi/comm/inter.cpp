#include "mpi/comm/inter.hpp"

#include <limits>
#include <utility>

#include "coll/engine/party.hpp"

namespace isthmus::face {

GridComm::GridComm(std::unique_ptr<Inter> inter_, core::Group remote)
    : context(inter_->whole->context),
      group(std::move(remote)),
      native(inter_->whole->native),
      mixes_formats(inter_->whole->mixes_formats),
      runs(inter_->whole->runs),
      within_part(inter_->whole->within_part),
      layout(inter_->whole->layout),
      forced(inter_->whole->forced),
      session(inter_->whole->session),
      inter(std::move(inter_)) {
  const GridComm& whole = *inter->whole;
  size = group.size();
  rank = whole.rank - inter->here;
  native_rank = whole.native_rank;
  const bool remote_first = inter->there == 0;
  using Limits = std::numeric_limits<int>;
  const int none = remote_first ? Limits::max() : Limits::min();
  int here = 0;  // members of the remote side in my cluster
  for (const int both : whole.members) {
    const int remote_rank = both - inter->there;
    const bool is_remote = remote_rank >= 0 && remote_rank < size;
    if (is_remote && here++ == 0) first_member = remote_rank;
    members.push_back(is_remote ? remote_rank : none);
  }
  // An addition translates only if native rank 0 is remote.
  const bool block = remote_first && here > 0 &&
                     members[static_cast<std::size_t>(here) - 1] == first_member + here - 1;
  contiguous = block ? static_cast<unsigned>(here) : 0;
}

GridCommRef register_intercomm(const Sides& sides, std::uint64_t context, MPI_Comm handle,
                               TagRange tags, const SessionRef& session) {
  auto inter = std::make_unique<Inter>();
  inter->whole = make_comm(sides.whole(), context, handle, std::move(tags));
  inter->whole->session = session;
  inter->local = sides.local;
  (sides.local_first() ? inter->there : inter->here) =
      (sides.local_first() ? sides.local : sides.remote).size();
  auto comm = std::make_shared<GridComm>(std::move(inter), sides.remote);
  enter_comm(comm);
  return comm;
}

GridCommRef register_like(const GridComm& model, std::uint64_t context, MPI_Comm handle,
                          TagRange tags) {
  if (model.inter) {
    return register_intercomm(sides_of(model), context, handle, std::move(tags), model.session);
  }
  GridCommRef made = register_comm(model.group, context, handle, std::move(tags));
  made->topology = model.topology;
  made->session = model.session;
  return made;
}

void require_intracomm(const GridComm& comm) {
  if (!comm.inter) return;
  throw MpiError(MPI_ERR_COMM, "the communicator is an intercommunicator");
}

}  // namespace isthmus::face
