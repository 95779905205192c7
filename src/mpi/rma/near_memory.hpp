// Memory of a window's ranks that this process accesses by itself, mapped or by system calls. Finds
// the place of an access, and whether the program may access it now, without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/datatype/type_map.hpp"
#include "core/engine/peer_memory.hpp"
#include "mpi/rma/host_memory.hpp"
#include "rma/turn.hpp"

namespace isthmus::face {

/// A put's copy. The C library writes large data past the caches, but memory that is put to again
/// should stay in them. 64 MiB took 2.4 ms at once and 1.1 in such pieces, as natively (2026-11).
inline void copy_there(std::byte* there, const void* from, std::size_t bytes) {
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  const auto* here = static_cast<const std::byte*>(from);
  for (; bytes > kPiece; bytes -= kPiece, here += kPiece, there += kPiece) {
    std::memmove(there, here, kPiece);
  }
  std::memmove(there, here, bytes);
}

/// Small puts of up to kSmallPut bytes that take a system call each (2.4 us, 2026-11) go alone at
/// first. If many come before the program synchronizes, they are gathered. Then each takes 0.5 us,
/// and all together a round trip (60 us).
inline constexpr std::size_t kSmallPut = 4096;
inline constexpr int kAlone = 16;

class NearMemory {
 public:
  /// For `ranks` ranks; none of them is near yet.
  void resize(int ranks) {
    ranks_ = ranks;
    places_ = std::make_unique<Place[]>(static_cast<std::size_t>(ranks));
  }
  void add(int rank, std::byte* memory, std::uint64_t size, std::int64_t unit) {
    Place& place = places_[static_cast<std::size_t>(rank)];
    place.memory = memory;
    place.size = size;
    place.unit = unit;
  }
  /// Not mapped: system calls do the access. `peer` stays.
  void add(int rank, const core::PeerMemory& peer, std::uint64_t size, std::int64_t unit) {
    add(rank, nullptr, size, unit);
    places_[static_cast<std::size_t>(rank)].peer = &peer;
  }
  /// Accumulates to that rank may be done here, in its turns.
  void combine_in(int rank, rma::Turn* turn) {
    places_[static_cast<std::size_t>(rank)].turn = turn;
  }
  /// As that, and keeps the mapping.
  void add(int rank, HostMemory memory, std::uint64_t size, std::int64_t unit) {
    add(rank, memory.base(), size, unit);
    combine_in(rank, memory.turn());
    mapped_.push_back(std::move(memory));
  }
  /// Null: not mapped here.
  [[nodiscard]] std::byte* memory(int rank) const {
    return places_[static_cast<std::size_t>(rank)].memory;
  }

  /// Null: mapped, or out of reach.
  [[nodiscard]] const core::PeerMemory* peer(int rank) const {
    return places_[static_cast<std::size_t>(rank)].peer;
  }
  /// Counts small puts since the program last synchronized. False: gather the next ones, as they
  /// are many.
  [[nodiscard]] bool goes_alone(int rank) {
    Place& place = places_[static_cast<std::size_t>(rank)];
    const std::uint64_t now = synchronized_.load(std::memory_order_relaxed);
    int before = place.alone.load(std::memory_order_relaxed);
    if (place.counts.exchange(now, std::memory_order_relaxed) != now) before = 0;
    if (before >= kAlone) return false;
    place.alone.store(before + 1, std::memory_order_relaxed);
    return true;
  }
  /// The program has synchronized with some rank.
  void synchronize() {  // threads that lose one another's count have counted
    synchronized_.store(synchronized_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  }
  /// Null: accumulates are the target's to do.
  [[nodiscard]] rma::Turn* turn(int rank) const {
    return places_[static_cast<std::size_t>(rank)].turn;
  }

  /// The epochs that the program is in. Grows with every change, so earlier permissions must be
  /// checked again. Odd: there are locks.
  [[nodiscard]] std::uint64_t epochs() const { return epochs_.load(std::memory_order_acquire); }
  void change_epochs(bool locks) {
    epochs_.store((epochs() / 2 + 1) * 2 + (locks ? 1 : 0), std::memory_order_release);
  }
  /// In these epochs the rank may be accessed without waiting.
  void allow(int rank, std::uint64_t epochs) {
    places_[static_cast<std::size_t>(rank)].allowed.store(epochs, std::memory_order_release);
  }
  [[nodiscard]] bool allowed(int rank) const {
    return rank >= 0 && rank < ranks_ &&
           places_[static_cast<std::size_t>(rank)].allowed.load(std::memory_order_acquire) ==
               epochs();
  }

  /// The offset of `count` elements of `element` bytes in the memory of a rank that is allowed.
  /// Empty: some are outside of it.
  [[nodiscard]] std::optional<std::uint64_t> offset(int rank, std::int64_t displacement,
                                                    std::int64_t count, std::size_t element) const {
    const Place& place = places_[static_cast<std::size_t>(rank)];
    std::uint64_t offset = 0, bytes = 0;
    if (displacement < 0 || count < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(displacement),
                               static_cast<std::uint64_t>(place.unit), &offset) ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(count), element, &bytes) ||
        offset > place.size || bytes > place.size - offset) {
      return std::nullopt;
    }
    return offset;
  }
  /// The same for mapped memory; null: it is not mapped, or some are outside of it.
  [[nodiscard]] std::byte* at(int rank, std::int64_t displacement, std::int64_t count,
                              std::size_t element) const {
    const auto begin = offset(rank, displacement, count, element);
    return memory(rank) == nullptr || !begin ? nullptr : memory(rank) + *begin;
  }

 private:
  struct Place {
    std::byte* memory = nullptr;
    std::uint64_t size = 0;
    std::int64_t unit = 1;
    rma::Turn* turn = nullptr;
    const core::PeerMemory* peer = nullptr;
    std::atomic<std::uint64_t> counts{0};  // since when `alone` does: as synchronized_
    std::atomic<int> alone{0};
    std::atomic<std::uint64_t> allowed{0};
  };

  std::unique_ptr<Place[]> places_;
  int ranks_ = 0;
  std::vector<HostMemory> mapped_;
  std::atomic<std::uint64_t> epochs_{2};
  std::atomic<std::uint64_t> synchronized_{1};
};

}  // namespace isthmus::face
