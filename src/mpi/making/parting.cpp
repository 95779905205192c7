#include "mpi/making/parting.hpp"

#include <algorithm>
#include <utility>

#include "mpi/comm/inter.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {

bool needs_parting(const GridComm& comm) {
  return comm.has_company() && comm.survival.revoked.load(std::memory_order_acquire);
}

Parting::Parting(GridCommRef comm)
    : comm_(std::move(comm)),
      survivors_(Survivors::of(*everyone(comm_))),
      told_(everyone(comm_)->members.size(), false) {
  told_[static_cast<std::size_t>(everyone(comm_)->native_rank)] = true;
}

bool Parting::over() {
  const Inside inside;
  const std::vector<int>& members = everyone(comm_)->members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!told_[i] && survivors_->has_revoked(members[i])) send_to(static_cast<int>(i));
  }
  std::erase_if(sends_, [](MPI_Request& request) {
    int done = 0;
    return native.Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  });
  const auto others = static_cast<int>(members.size()) - 1;
  return sends_.empty() && std::ranges::find(told_, false) == told_.end() &&
         comm_->survival.parted.load() >= others;
}

void Parting::send_to(int native_rank) {
  told_[static_cast<std::size_t>(native_rank)] = true;
  native.Isend(&comm_->context, sizeof comm_->context, MPI_BYTE, native_rank, traffic::kParted,
               comm_->native, &sends_.emplace_back(MPI_REQUEST_NULL));
}

}  // namespace isthmus::face
