// Exchanges between members while communicators are made. All of these are collective, keep the
// program's other operations going while they wait, and throw MpiError. In intercommunicators,
// both sides take part, in the order that both know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "coll/engine/party.hpp"
#include "core/base/own_order.hpp"
#include "core/world/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/native/native.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// The purpose of an exchange, for messages; string literals.
struct Purpose {
  const char* what = "agreement on a communicator";
  const char* failed = "the members could not agree on the communicator";
};

/// Drives what all members begin alike to its end.
void agree(const GridCommRef& comm, std::function<coll::Task(coll::Party&)> how,
           const Purpose& purpose = {});

/// The item of every member, by rank; all are of one size. Numbers are the caller's to turn
/// (core/base/own_order.hpp), except in the form of items.
void tell_all(const GridCommRef& comm, coll::ConstBytes mine, coll::Bytes all,
              const Purpose& purpose = {});
/// The same of items of different `sizes`, by rank, which all know.
void tell_all(const GridCommRef& comm, coll::ConstBytes mine, coll::Bytes all,
              const std::vector<std::size_t>& sizes, const Purpose& purpose = {});
template <class Item>
std::vector<Item> tell_all(const GridCommRef& comm, const Item& mine) {
  std::vector<Item> all(static_cast<std::size_t>(everyone(comm)->size));
  const Item told = core::as_little_endian(mine);
  tell_all(comm, std::as_bytes(std::span(&told, 1)), std::as_writable_bytes(std::span(all)));
  core::little_endian(all);
  return all;
}

/// One member's arguments of MPI_Comm_split.
struct SplitChoice {
  int colour = MPI_UNDEFINED;
  int key = 0;
  std::uint64_t context = 0;  ///< its offer for the context, used if it is rank 0 of the result
  auto numbers() { return std::tie(colour, key, context); }
};

/// The choices of all members, by rank. When it returns, every member has called it, so a blocking
/// native collective over the cluster's members may follow.
std::vector<SplitChoice> exchange_choices(const GridCommRef& comm, SplitChoice mine);

/// A fresh context, the same on all members. Ends as exchange_choices does.
std::uint64_t agree_on_context(const GridCommRef& comm);

/// Whether all members have succeeded in their parts of something.
bool all_succeeded(const GridCommRef& comm, bool mine);

/// Gives each member its block of `blocks` (by rank, one after the other, of `sizes` bytes).
/// Returns the members' blocks for this one, by rank.
std::vector<std::byte> exchange_blocks(const GridCommRef& comm, std::span<const std::byte> blocks,
                                       const std::vector<std::size_t>& sizes);

/// A barrier.
void meet(const GridCommRef& comm);

/// The smallest and the largest of the numbers that members give, over the cluster's members of a
/// communicator (native or grid). Empty when none gives one. Every member there has called it when
/// it returns.
struct Extremes {
  int least;
  int most;
};
std::optional<Extremes> local_extremes(MPI_Comm handle, std::optional<int> mine);

}  // namespace isthmus::face
