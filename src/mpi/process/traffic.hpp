// The tags of Isthmus's own native messages, which go by one communicator of all processes of a
// cluster: the shadow. A native library promises tags up to 32,767 (MPI-4.1 section 3.2.3). New
// traffic is reserved here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "coll/engine/phases.hpp"
#include "core/engine/service.hpp"

namespace isthmus::face::traffic {

/// The least MPI_TAG_UB that MPI allows.
constexpr int kPromisedTags = 32'767;

// The lower half of the tags: a range for each communicator (process/tag_range.hpp). In a range:
constexpr int kLongBlock = 0;  ///< blocks too long for the native collectives
constexpr int collective_tag(int tag) { return 1 + tag; }  ///< coll/engine/phases.hpp
constexpr int range_size(int clusters) { return collective_tag(coll::tags_of(clusters)); }

/// More communicators at a time than any native library has had (2026-11).
constexpr int kMostRanges = 1 << 16;
/// The number of ranges.
constexpr int ranges(int native_upper_bound, int clusters) {
  return std::min(kMostRanges, (native_upper_bound / 2 + 1) / range_size(clusters));
}
/// The world may grow: communicators with up to this many clusters have a range, those with more a
/// shadow of their own.
constexpr int clusters_with_growth(std::size_t clusters) {
  constexpr std::size_t kGrowth = 6;
  return static_cast<int>(clusters + kGrowth);
}
/// So that a communicator with the tags has a range.
constexpr int kMostClusters = 2048;
static_assert(ranges(kPromisedTags, kMostClusters) > 0);

/// The last quarter: ranges of twins (comm/twins.hpp), which have one cluster. Twins share a range
/// only if there are more of them.
constexpr int first_twin_tag(int native_upper_bound) {
  return native_upper_bound - native_upper_bound / 4;
}
constexpr int twin_ranges(int native_upper_bound) {
  return (native_upper_bound - first_twin_tag(native_upper_bound)) / range_size(1);
}
constexpr int twin_tag(int number, int native_upper_bound) {
  return first_twin_tag(native_upper_bound) + number * range_size(1);
}

/// The third quarter: the courier's tag for a tag of the program, of the communicator that has that
/// range (making/courier.hpp). Distinct as far as the native library has tags; beyond, messages of
/// concurrent calls may share one.
constexpr int courier_tag(int range, int program_tag, int native_upper_bound) {
  constexpr std::uint64_t kTagsOfARange = 4099;  // a prime
  const int first = native_upper_bound / 2 + 1;
  const auto number = static_cast<std::uint64_t>(first_twin_tag(native_upper_bound) - first);
  const auto wanted =
      static_cast<std::uint64_t>(program_tag) + kTagsOfARange * static_cast<std::uint64_t>(range);
  return first + static_cast<int>(wanted % number);
}

/// The end of the lower half, beyond the ranges if the library has many tags: native creations of
/// communicators (making/native_group.hpp). In MPICH they have a context of their own.
constexpr int creation_tag(std::uint64_t context, int tag, int native_upper_bound) {
  constexpr std::uint64_t kMost = 1 << 24;
  const auto half = static_cast<std::uint64_t>(native_upper_bound / 2);
  const std::uint64_t mixed =
      ((context >> 32) * 0x9E37 + (context >> 1)) * 4099 + static_cast<std::uint64_t>(tag);
  return static_cast<int>(half - mixed % std::min(kMost, half));
}

/// On the program's communicators: the last native message on one that is revoked, which has the
/// communicator's context (making/parting.hpp).
constexpr int kParted = kPromisedTags - 1;

// In the engine, which has as many tags as an int:
/// The barrier that ends the grid: beside the collectives of MPI_COMM_WORLD, in their context.
constexpr int kGridBarrier = kPromisedTags + 1;
/// The courier's messages between clusters: contexts of communicators never have this bit, nor
/// those that follow.
constexpr std::uint64_t kCourierContext = std::uint64_t{1} << 63;
/// Partitioned communication: the messages of MPI_Psend_init to MPI_Precv_init, in the
/// communicator's context; and the partitions, each channel's in a context of its own.
constexpr std::uint64_t kPartitionedInit = std::uint64_t{1} << 62;
constexpr std::uint64_t kPartitioned = std::uint64_t{1} << 61;
/// Members of a cluster tell each other if they go on to a native call (making/local_vote.hpp).
constexpr std::uint64_t kVoteContext = kCourierContext | kPartitionedInit;
/// Between the roots of two sides that meet at a port, in the context that one of them has offered.
constexpr std::uint64_t kMeetingContext = std::uint64_t{1} << 58;
/// Contexts that are drawn at random, since members of several runs may have them: each run counts
/// its own alike.
constexpr std::uint64_t kRandomContext = std::uint64_t{1} << 57;
/// Requests of far processes to file services, and the answers: two services of every process.
constexpr std::uint64_t kFileRequests = core::kServiceContext | std::uint64_t{1} << 59;
constexpr std::uint64_t kFileReplies = kFileRequests | 1;
/// Notices between members of communicators about failed collectives.
constexpr std::uint64_t kFailures = kFileRequests | 2;
/// Messages of members about calls with wrong arguments.
constexpr std::uint64_t kWrongCalls = kFileRequests | 3;
/// Agreements at the end of calls that make something (mpi/making/sealing.hpp).
constexpr std::uint64_t kMakingContext = kCourierContext;
/// The same of calls that free it.
constexpr std::uint64_t kFreeingContext = kCourierContext | kPartitionedInit;
/// Messages of members that agree although others fail, and that revoke communicators.
constexpr std::uint64_t kSurvivors = kFileRequests | 4;

}  // namespace isthmus::face::traffic
