#include "mpi/making/duplication.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "coll/engine/collectives.hpp"
#include "core/base/own_order.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/making/unfinished.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

class Beginning final : public coll::Operation {
 public:
  explicit Beginning(Duplication& duplication) : duplication_(duplication) {}
  bool poll() override { return duplication_.begin(); }

 private:
  Duplication& duplication_;
};

class NativeCopy final : public coll::Operation {
 public:
  NativeCopy(MPI_Request request, MPI_Comm made) : request_(request), made_(made) {}
  ~NativeCopy() override {
    if (!over_ && may_lose() && grid() != nullptr) leave_unfinished(request_, made_);
  }
  NativeCopy(const NativeCopy&) = delete;
  NativeCopy& operator=(const NativeCopy&) = delete;
  bool poll() override {
    const Inside inside;
    int done = 0;
    const int code = native.Test(&request_, &done, MPI_STATUS_IGNORE);
    over_ = code != MPI_SUCCESS || done != 0;
    if (code != MPI_SUCCESS) {
      throw MpiError(MPI_ERR_OTHER, "the native duplication inside the cluster failed");
    }
    return done != 0;
  }

 private:
  MPI_Request request_;
  MPI_Comm made_;
  bool over_ = false;
};

class Sealing final : public coll::Operation {
 public:
  explicit Sealing(Seal& seal) : seal_(seal) { seal_.say_well(); }
  bool poll() override { return seal_.poll(); }

 private:
  Seal& seal_;
};

/// A member's final message to all others.
struct Outcome {
  std::uint64_t context;  ///< rank 0's is the new communicator's
  std::uint64_t well;
  auto numbers() { return std::tie(context, well); }
};

}  // namespace

Duplication::Duplication(const GridCommRef& parent, const char* function, Begin begin, Give give,
                         const Hints& hints)
    : Collective(everyone(parent), function),
      parent_(parent),
      begin_(std::move(begin)),
      give_(std::move(give)),
      context_(grid_comm().rank == 0 ? fresh_context() : 0),
      hints_(hints) {}

Duplication::~Duplication() {
  if (!registered_ && made_well_ && grid() != nullptr) native.Comm_free(&made_);
}

bool Duplication::begin() {
  if (begun_) return true;
  if (!in_turn() || creating_natively()) return false;
  // Not waited for: a thread that holds it may be waiting for the progress lock.
  const std::unique_lock settled(unmaking_mutex(), std::try_to_lock);
  if (!settled) return false;
  begun_ = true;
  code_ = begin_(&made_, &copied_);
  if (code_ != MPI_SUCCESS) return true;
  give_(made_);
  under_way_.emplace();
  return true;
}

coll::Task Duplication::start(coll::Party& party) { return duplicate(party); }

/// In sequence: Open MPI begins parts of the native duplication at any time, so no other operation
/// may use the parent's handle meanwhile.
coll::Task Duplication::duplicate(coll::Party& party) {
  coll::Pending begun(std::make_unique<Beginning>(*this));
  co_await begun;
  // If anything fails here, the other members must learn of it.
  if (code_ == MPI_SUCCESS) {
    try {
      coll::Pending copied(std::make_unique<NativeCopy>(copied_, made_));
      co_await copied;
      made_well_ = true;
    } catch (const MpiError&) {
      made_well_ = false;
    }
  }
  under_way_.reset();
  const bool company = grid_comm().has_company();
  if (company) {
    coll::Task tags_found = find_tags(party);
    co_await tags_found;
  }
  const bool well = made_well_ && (!company || tags_.shadow() != MPI_COMM_NULL);
  const core::Group& group = grid_comm().group;
  std::optional<Seal> seal;
  if (may_lose_some(group)) {
    core::little_endian(context_);
    coll::Task spread = coll::bcast(party, std::as_writable_bytes(std::span(&context_, 1)), 0);
    co_await spread;
    core::little_endian(context_);
    seal.emplace(group, context_);
  }
  const Outcome mine = core::as_little_endian(Outcome{context_, well ? 1U : 0U});
  std::vector<Outcome> all(static_cast<std::size_t>(grid_comm().size));
  coll::Task told = coll::allgather(party, std::as_bytes(std::span(&mine, 1)),
                                    std::as_writable_bytes(std::span(all)),
                                    coll::Sizes(all.size(), sizeof(Outcome)));
  co_await told;
  core::little_endian(all);
  context_ = all.front().context;
  if (std::any_of(all.begin(), all.end(), [](const Outcome& each) { return each.well == 0; })) {
    throw MpiError(MPI_ERR_OTHER,
                   "a native MPI library could not make its part of the communicator (it may "
                   "have too many)");
  }
  if (!seal) co_return;
  decides();
  coll::Pending sealed(std::make_unique<Sealing>(*seal));
  co_await sealed;
}

coll::Task Duplication::find_tags(coll::Party& party) {
  RangeSearch search(grid()->shadow->free, grid_comm().context + ++grid_comm().duplications);
  std::vector<std::uint64_t> offers(grid_comm().members.size());
  const std::vector<std::size_t> sizes(offers.size(), sizeof(std::uint64_t));
  std::uint64_t common = 0;
  do {
    const std::uint64_t mine = search.offer();
    coll::Pending told = party.local_allgather(std::as_bytes(std::span(&mine, 1)),
                                               std::as_writable_bytes(std::span(offers)), sizes);
    co_await told;
    common = mine;
    for (const std::uint64_t offer : offers) common &= offer;
  } while (!search.settle(common));
  if (search.found()) {
    tags_ = TagRange::found(*search.found());
  } else if (made_well_) {
    // This runs the attributes' copy functions once more: no other way makes one without waiting.
    const NativeIdup under_way;
    MPI_Comm shadow = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const Inside inside;
      if (native.Comm_idup(made_, &shadow, &request) != MPI_SUCCESS) co_return;
    }
    coll::Pending copied(std::make_unique<NativeCopy>(request, shadow));
    co_await copied;
    native.Comm_set_errhandler(shadow, MPI_ERRORS_RETURN);
    tags_ = TagRange::on(shadow);
  }
}

void Duplication::finish() {
  const GridCommRef made = register_like(*parent_, context_, made_, std::move(tags_));
  registered_ = true;
  heed(made, hints_);
}

}  // namespace isthmus::face
