#include "mpi/duplication.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "coll/collectives.hpp"
#include "mpi/entry.hpp"
#include "mpi/progress.hpp"

namespace isthmus::face {
namespace {

std::mutex under_way_mutex;
std::vector<const GridComm*> under_way;  // parents of duplications

class NativeCopy final : public coll::Operation {
 public:
  explicit NativeCopy(MPI_Request request) : request_(request) {}
  bool poll() override {
    Inside inside;
    int done = 0;
    if (native.Test(&request_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      throw coll::Failure(MPI_ERR_OTHER, "the native duplication inside the cluster failed");
    }
    return done != 0;
  }

 private:
  MPI_Request request_;
};

coll::Pending copy_of(MPI_Comm from, MPI_Comm* to) {
  Inside inside;
  MPI_Request request = MPI_REQUEST_NULL;
  if (native.Comm_idup(from, to, &request) != MPI_SUCCESS) {
    throw coll::Failure(MPI_ERR_OTHER, "the native duplication inside the cluster failed");
  }
  return coll::Pending(std::make_unique<NativeCopy>(request));
}

coll::Task duplicate(coll::Party& party, coll::Bytes context, MPI_Comm parent_shadow,
                     MPI_Comm* shadow, MPI_Request copied) {
  coll::Task spread = coll::bcast(party, context, 0);
  co_await spread;
  coll::Pending shadow_made = copy_of(parent_shadow, shadow);
  co_await shadow_made;
  coll::Pending handle_made(std::make_unique<NativeCopy>(copied));
  co_await handle_made;
}

}  // namespace

Duplication::Duplication(const GridCommRef& parent, const char* function, MPI_Comm made,
                         MPI_Request copied, coll::Forced forced)
    : Collective(parent, function),
      made_(made),
      copied_(copied),
      context_(parent->rank == 0 ? fresh_context() : 0),
      forced_(forced) {
  const std::lock_guard lock(under_way_mutex);
  under_way.push_back(parent.get());
}

Duplication::~Duplication() { done(); }

void Duplication::done() {
  const std::lock_guard lock(under_way_mutex);
  if (done_) return;
  done_ = true;
  under_way.erase(std::find(under_way.begin(), under_way.end(), &grid_comm()));
}

void Duplication::await_turn([[maybe_unused]] const GridComm& parent) {
#ifdef OPEN_MPI
  wait_until([&] {
    const std::lock_guard lock(under_way_mutex);
    return std::find(under_way.begin(), under_way.end(), &parent) == under_way.end();
  });
#endif
}

coll::Task Duplication::start(coll::Party& party) {
  return duplicate(party, std::as_writable_bytes(std::span(&context_, 1)), grid_comm().shadow,
                   &shadow_, copied_);
}

void Duplication::finish() {
  done();
  const GridCommRef made = register_comm(grid_comm().group, context_, made_, shadow_);
  made->cart = grid_comm().cart;
  made->forced = forced_;
}

}  // namespace isthmus::face
