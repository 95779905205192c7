#include "mpi/making/duplication.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "coll/engine/collectives.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"

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

/// The shadow's own duplication is one more for Open MPI to wait for.
class ShadowCopy final : public coll::Operation {
 public:
  ShadowCopy(MPI_Comm from, MPI_Comm* to) : copy_(begin(from, to)) {}
  bool poll() override { return copy_.poll(); }

 private:
  static MPI_Request begin(MPI_Comm from, MPI_Comm* to) {
    Inside inside;
    MPI_Request request = MPI_REQUEST_NULL;
    if (native.Comm_idup(from, to, &request) != MPI_SUCCESS) {
      throw coll::Failure(MPI_ERR_OTHER, "the native duplication inside the cluster failed");
    }
    return request;
  }
  NativeIdup under_way_;
  NativeCopy copy_;
};

}  // namespace

Duplication::Duplication(const GridCommRef& parent, const char* function, Begin begin,
                         MPI_Comm* newcomm, coll::Forced forced)
    : Collective(parent, function),
      begin_(std::move(begin)),
      newcomm_(newcomm),
      context_(parent->rank == 0 ? fresh_context() : 0),
      forced_(forced) {}

Duplication::~Duplication() {
  done();
  if (registered_ || grid() == nullptr) return;
  if (made_well_) native.Comm_free(&made_);
  if (shadow_well_) native.Comm_free(&shadow_);
}

int Duplication::begin() {
  if (under_way_) return MPI_SUCCESS;
  if (const int code = begin_(&made_, &copied_); code != MPI_SUCCESS) return code;
  settle_handles();
  *newcomm_ = made_;
  under_way_.emplace();
  const std::lock_guard lock(under_way_mutex);
  under_way.push_back(&grid_comm());
  return MPI_SUCCESS;
}

void Duplication::done() {
  if (!under_way_) return;
  under_way_.reset();
  const std::lock_guard lock(under_way_mutex);
  under_way.erase(std::find(under_way.begin(), under_way.end(), &grid_comm()));
}

bool Duplication::may_begin([[maybe_unused]] const GridComm& parent) {
#ifdef OPEN_MPI
  const std::lock_guard lock(under_way_mutex);
  return std::find(under_way.begin(), under_way.end(), &parent) == under_way.end();
#else
  return true;
#endif
}

coll::Task Duplication::start(coll::Party& party) { return duplicate(party); }

coll::Task Duplication::duplicate(coll::Party& party) {
  const bool begun = begin() == MPI_SUCCESS;
  coll::Task spread = coll::bcast(party, std::as_writable_bytes(std::span(&context_, 1)), 0);
  co_await spread;
  // Whatever fails here, the others must hear of it.
  if (grid_comm().has_company()) {
    try {
      coll::Pending shadow_made(std::make_unique<ShadowCopy>(grid_comm().shadow, &shadow_));
      co_await shadow_made;
      shadow_well_ = true;
    } catch (const coll::Failure&) {
      shadow_well_ = false;
    }
  }
  if (begun) {
    try {
      coll::Pending handle_made(std::make_unique<NativeCopy>(copied_));
      co_await handle_made;
      made_well_ = true;
    } catch (const coll::Failure&) {
      made_well_ = false;
    }
  }
  const bool well = made_well_ && (shadow_well_ || !grid_comm().has_company());
  const auto mine = static_cast<std::uint8_t>(well ? 1 : 0);
  std::vector<std::uint8_t> all(static_cast<std::size_t>(grid_comm().size));
  coll::Task told =
      coll::allgather(party, std::as_bytes(std::span(&mine, 1)),
                      std::as_writable_bytes(std::span(all)), coll::Sizes(all.size(), 1));
  co_await told;
  if (std::find(all.begin(), all.end(), 0) != all.end()) {
    throw coll::Failure(MPI_ERR_OTHER,
                        "a native MPI library could not make its part of the communicator (it may "
                        "have too many)");
  }
}

void Duplication::finish() {
  done();
  const GridCommRef made = register_comm(grid_comm().group, context_, made_, shadow_);
  registered_ = true;
  made->cart = grid_comm().cart;
  made->forced = forced_;
}

}  // namespace isthmus::face
