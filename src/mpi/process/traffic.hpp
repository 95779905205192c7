// The tags of Isthmus's own native messages on shadows. A native library promises tags up to 32,767
// (MPI-4.1 section 3.2.3); everything but the courier's wrap-around fits in there. New traffic is
// reserved here.
#pragma once

#include <cstdint>

#include "coll/engine/phases.hpp"

namespace isthmus::face::traffic {

/// The least MPI_TAG_UB that MPI allows.
constexpr int kPromisedTags = 32'767;

/// Collectives: 0 .. kLongBlock - 1 (coll/engine/phases.hpp).
constexpr int kLongBlock = coll::kTagsEnd;  ///< blocks too long for the native collectives
constexpr int kCourier = kLongBlock + 1;    ///< and on, up to MPI_TAG_UB (courier.hpp)

static_assert(kCourier < kPromisedTags);

// In the engine, which has as many tags as an int:
/// The barrier that ends the grid: beside the collectives of MPI_COMM_WORLD, in their context.
constexpr int kGridBarrier = kPromisedTags + 1;
/// The courier's messages between clusters: contexts of communicators never have this bit.
constexpr std::uint64_t kCourierContext = std::uint64_t{1} << 63;

/// The courier's tag for a tag of the program. Distinct for distinct tags as far as the native
/// library has tags; beyond, messages of concurrent calls may share one.
constexpr int courier_tag(int program_tag, int native_upper_bound) {
  return kCourier + program_tag % (native_upper_bound - kCourier + 1);
}

}  // namespace isthmus::face::traffic
