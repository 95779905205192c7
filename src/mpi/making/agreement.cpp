#include "mpi/making/agreement.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "coll/engine/collectives.hpp"
#include "coll/engine/portion.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/making/local_vote.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

/// The exchange under way: a collective like any other, in its place among them.
class Agreement final : public Collective {
 public:
  using Start = std::function<coll::Task(coll::Party&)>;
  Agreement(const GridCommRef& parent, Start how, const char* what)
      : Collective(parent, what), how_(std::move(how)) {}
  /// `failed`, with the reason if it is known.
  std::string said(const char* failed) const { return why_.empty() ? failed : failed + why_; }

 private:
  coll::Task start(coll::Party& party) override { return noting(how_(party)); }
  coll::Task noting(coll::Task task) {
    try {
      co_await task;
    } catch (const MpiError& failure) {
      why_ = std::string(": ") + failure.what();
      throw;
    }
  }
  Start how_;
  std::string why_;
};

coll::Task spread_then_meet(coll::Party& party, coll::Bytes data) {
  coll::Task spread = coll::bcast(party, data, 0);
  co_await spread;
  coll::Pending all_here = party.local_barrier();
  co_await all_here;
}

coll::Task gather_members(coll::Party& party, coll::ConstBytes mine, coll::Bytes all) {
  const std::vector<std::size_t> sizes(all.size() / mine.size(), mine.size());
  coll::Pending gathered = party.local_allgather(mine, all, sizes);
  co_await gathered;
}

/// The values of a grid communicator's members in this cluster.
std::vector<int> gather_here(const GridCommRef& comm, int mine) {
  std::vector<int> all(everyone(comm)->members.size());
  agree(comm, [&](coll::Party& party) {
    return gather_members(party, std::as_bytes(std::span(&mine, 1)),
                          std::as_writable_bytes(std::span(all)));
  });
  return all;
}

/// The values of a communicator within one cluster.
std::vector<int> gather_natively(MPI_Comm comm, int mine) {
  int size = 0;
  native.Comm_size(comm, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  {
    const Inside inside;
    code = native.Iallgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm, &request);
  }
  wait_until([&] {
    const Inside inside;
    int done = 1;
    if (code == MPI_SUCCESS) code = native.Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  if (code != MPI_SUCCESS) throw MpiError(MPI_ERR_OTHER, "a native allgather failed");
  return all;
}

}  // namespace

void agree(const GridCommRef& comm, std::function<coll::Task(coll::Party&)> how,
           const Purpose& purpose) {
  Agreement agreement(everyone(comm), std::move(how), purpose.what);
  agreement.wait_for();
  const auto done = [&] {
    const core::Lock lock(progress_mutex);
    return agreement.advance();
  };
  Backoff backoff;
  while (!done()) backoff.pause(idle() && agreement.near() ? &agreement : nullptr);
  if (is_loss(agreement.result.error)) {
    if (const auto loss = loss_of_all(*everyone(comm))) {
      throw MpiError(loss->error_class, loss->because);
    }
  }
  if (agreement.result.error != MPI_SUCCESS) {
    throw MpiError(MPI_ERR_OTHER, agreement.said(purpose.failed));
  }
}

void tell_all(const GridCommRef& comm, coll::ConstBytes mine, coll::Bytes all,
              const Purpose& purpose) {
  tell_all(comm, mine, all,
           coll::Sizes(static_cast<std::size_t>(everyone(comm)->size), mine.size()), purpose);
}

void tell_all(const GridCommRef& comm, coll::ConstBytes mine, coll::Bytes all,
              const std::vector<std::size_t>& sizes, const Purpose& purpose) {
  agree(
      comm, [&](coll::Party& party) { return coll::allgather(party, mine, all, sizes); }, purpose);
}

std::vector<SplitChoice> exchange_choices(const GridCommRef& comm, SplitChoice mine) {
  std::vector<SplitChoice> choices;
  before_native(*everyone(comm), [&] { choices = tell_all(comm, mine); });
  return choices;
}

std::uint64_t agree_on_context(const GridCommRef& comm) {
  std::uint64_t context = everyone(comm)->rank == 0 ? fresh_context() : 0;
  core::little_endian(context);
  before_native(*everyone(comm), [&] {
    agree(comm, [&](coll::Party& party) {
      return spread_then_meet(party, std::as_writable_bytes(std::span(&context, 1)));
    });
  });
  return core::as_little_endian(context);
}

bool all_succeeded(const GridCommRef& comm, bool mine) {
  const std::vector<std::uint8_t> all = tell_all(comm, static_cast<std::uint8_t>(mine ? 1 : 0));
  return std::find(all.begin(), all.end(), 0) == all.end();
}

std::vector<std::byte> exchange_blocks(const GridCommRef& comm, std::span<const std::byte> blocks,
                                       const std::vector<std::size_t>& sizes) {
  std::vector<std::uint64_t> told(sizes.begin(), sizes.end());
  core::little_endian(told);
  std::vector<std::uint64_t> heard(told.size());
  agree(comm, [&](coll::Party& party) {
    const coll::Sizes each(told.size(), sizeof(std::uint64_t));
    return coll::alltoall(party, std::as_bytes(std::span(told)), each,
                          std::as_writable_bytes(std::span(heard)), each, coll::Blocks::Even);
  });
  core::little_endian(heard);
  const coll::Sizes incoming(heard.begin(), heard.end());
  std::vector<std::byte> received(coll::total(incoming));
  agree(comm, [&](coll::Party& party) {
    return coll::alltoall(party, blocks, sizes, received, incoming);
  });
  return received;
}

void meet(const GridCommRef& comm) {
  agree(comm, [](coll::Party& party) { return coll::barrier(party); });
}

std::optional<Extremes> local_extremes(MPI_Comm handle, std::optional<int> mine) {
  constexpr int kNone = std::numeric_limits<int>::min();
  const GridCommRef comm = share_comm(handle);
  std::vector<int> all;
  if (comm) {
    before_native(*everyone(comm), [&] { all = gather_here(comm, mine.value_or(kNone)); });
  } else {
    all = gather_natively(handle, mine.value_or(kNone));
  }
  std::erase(all, kNone);
  if (all.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return Extremes{*least, *most};
}

}  // namespace isthmus::face
