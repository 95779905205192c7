#include "mpi/making/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include "coll/engine/collectives.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

/// The exchange under way: a collective like any other, in its place among them.
template <class Start>
class Agreement final : public Collective {
 public:
  Agreement(const GridCommRef& parent, Start how)
      : Collective(parent, "agreement on a communicator"), how_(std::move(how)) {}

 private:
  coll::Task start(coll::Party& party) override { return how_(party); }
  Start how_;
};

template <class Start>
void agree(const GridCommRef& comm, Start&& how) {
  Agreement<std::decay_t<Start>> agreement(comm, std::forward<Start>(how));
  wait_until([&] {
    const std::lock_guard lock(progress_mutex);
    return agreement.advance();
  });
  if (agreement.result.error != MPI_SUCCESS) {
    throw coll::Failure(MPI_ERR_OTHER, "the members could not agree on the new communicator");
  }
}

coll::Task spread_then_meet(coll::Party& party, coll::Bytes data) {
  coll::Task spread = coll::bcast(party, data, 0);
  co_await spread;
  coll::Pending all_here = party.local_barrier();
  co_await all_here;
}

}  // namespace

void tell_all(const GridCommRef& comm, coll::ConstBytes mine, coll::Bytes all) {
  agree(comm, [&](coll::Party& party) {
    return coll::allgather(party, mine, all,
                           coll::Sizes(static_cast<std::size_t>(comm->size), mine.size()));
  });
}

std::vector<SplitChoice> exchange_choices(const GridCommRef& comm, SplitChoice mine) {
  return tell_all(comm, mine);
}

std::uint64_t agree_on_context(const GridCommRef& comm) {
  std::uint64_t context = comm->rank == 0 ? fresh_context() : 0;
  agree(comm, [&](coll::Party& party) {
    return spread_then_meet(party, std::as_writable_bytes(std::span(&context, 1)));
  });
  return context;
}

bool all_succeeded(const GridCommRef& comm, bool mine) {
  const std::vector<std::uint8_t> all = tell_all(comm, static_cast<std::uint8_t>(mine ? 1 : 0));
  return std::find(all.begin(), all.end(), 0) == all.end();
}

void meet(const GridCommRef& comm) {
  agree(comm, [](coll::Party& party) { return coll::barrier(party); });
}

std::optional<Extremes> local_extremes(MPI_Comm handle, std::optional<int> mine) {
  constexpr int kNone = std::numeric_limits<int>::min();
  const std::array<int, 2> given{mine ? -*mine : kNone, mine ? *mine : kNone};
  std::array<int, 2> most{};
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  {
    Inside inside;
    code = native.Iallreduce(given.data(), most.data(), 2, MPI_INT, MPI_MAX, handle, &request);
  }
  wait_until([&] {
    Inside inside;
    int done = 1;
    if (code == MPI_SUCCESS) code = native.Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  if (code != MPI_SUCCESS) throw coll::Failure(MPI_ERR_OTHER, "a native reduction failed");
  if (most[1] == kNone) return std::nullopt;
  return Extremes{-most[0], most[1]};
}

}  // namespace isthmus::face
