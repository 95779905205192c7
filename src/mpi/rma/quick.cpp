#include "mpi/rma/quick.hpp"

#include <atomic>
#include <cstring>
#include <span>

#include "core/base/mutex.hpp"
#include "mpi/comm/comm_table.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/request/outstanding.hpp"
#include "mpi/rma/window.hpp"
#include "rma/combining.hpp"

namespace isthmus::face {
namespace {

// Predefined datatypes whose elements have no gaps, and their sizes: they are never freed. Never
// destroyed, as MPI may be called from static destructors.
struct QuickTypes {
  core::Mutex mutex;
  CommTable table;
};
QuickTypes& quick_types() {
  static QuickTypes& found = *new QuickTypes;
  return found;
}

/// 0: not known.
std::size_t quick_size(MPI_Datatype type) {
  return reinterpret_cast<std::size_t>(quick_types().table.find(key(type)));
}

/// The data's place in the target's memory: mapped here, or for system calls. If both are null, the
/// access cannot be done here.
struct Quick {
  std::byte* there = nullptr;
  const core::PeerMemory* peer = nullptr;
  std::int64_t offset = 0;  // in the peer's memory
  std::size_t bytes = 0;
};
inline Quick quick_access(const void* here, MPI_Count here_count, MPI_Datatype here_type, int rank,
                          MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win) {
  GridWindow* const window = find_window(win);
  if (window == nullptr || !window->near.allowed(rank)) return {};
  if (here == nullptr || here_count != count || here_type != type || count <= 0) return {};
  const std::size_t element = quick_size(type);
  if (element == 0 || !in_reach_of_cpu(here)) return {};
  const auto offset = window->near.offset(rank, displacement, count, element);
  if (!offset) return {};
  std::byte* const memory = window->near.memory(rank);
  return {.there = memory == nullptr ? nullptr : memory + *offset,
          .peer = window->near.peer(rank),
          .offset = static_cast<std::int64_t>(*offset),
          .bytes = static_cast<std::size_t>(count) * element};
}

/// The thread's last accumulate and compare-and-swap that went the full way: another one like it is
/// also valid. Both are of predefined datatypes, which are never freed.
struct LastCombination {
  MPI_Op op;
  MPI_Datatype type;
  rma::Combination how;
  bool known = false;
};
thread_local LastCombination last_combination;
struct LastSwap {
  MPI_Datatype type;
  bool known = false;
};
thread_local LastSwap last_swap;

/// The place of accumulates of `count` elements that are done here, in turns. The target has
/// completed all operations that went as records, which these may not overtake.
struct QuickElements {
  rma::Elements there;
  rma::Turn* turn = nullptr;  ///< null: not to be done here
};
inline QuickElements quick_elements(int rank, MPI_Aint displacement, MPI_Count count,
                                    MPI_Datatype type, MPI_Win win) {
  GridWindow* const window = find_window(win);
  if (window == nullptr || !window->near.allowed(rank) || count <= 0) return {};
  rma::Turn* const turn = window->near.turn(rank);
  if (turn == nullptr || !window->part->settled()) return {};
  const std::size_t element = quick_size(type);
  if (element == 0) return {};
  std::byte* const there = window->near.at(rank, displacement, count, element);
  if (there == nullptr) return {};
  return {{.memory = there, .size = static_cast<std::size_t>(count) * element}, turn};
}

/// Puts that are done are so for all other threads before anything that this one does later.
bool seen_by_all() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace

void quick_from_now_on(MPI_Datatype type) {
  if (quick_size(type) > 0 || !is_predefined(type)) return;
  MPI_Aint lower = 0;
  if (!is_contiguous(2, type, &lower) || lower != 0) return;
  const core::Lock lock(quick_types().mutex);
  if (quick_size(type) > 0) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the table keeps a word
  quick_types().table.insert(key(type), reinterpret_cast<void*>(packed_size(1, type)));
}

bool quick_put(const void* from, MPI_Count from_count, MPI_Datatype from_type, int rank,
               MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win) {
  const Quick copy =
      quick_access(from, from_count, from_type, rank, displacement, count, type, win);
  if (copy.there != nullptr) {
    copy_there(copy.there, from, copy.bytes);
    return true;
  }
  if (copy.peer == nullptr) return false;
  if (copy.bytes < kSmallPut && !find_window(win)->near.goes_alone(rank)) return false;
  return copy.peer->write(copy.offset, {static_cast<const std::byte*>(from), copy.bytes});
}

bool quick_get(void* into, MPI_Count into_count, MPI_Datatype into_type, int rank,
               MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win) {
  const Quick copy =
      quick_access(into, into_count, into_type, rank, displacement, count, type, win);
  if (copy.there != nullptr) {
    std::memmove(into, copy.there, copy.bytes);
    return true;
  }
  return copy.peer != nullptr &&
         copy.peer->read(copy.offset, {static_cast<std::byte*>(into), copy.bytes});
}

void quick_from_now_on(MPI_Op op, MPI_Datatype type, const rma::Combination& how) {
  quick_from_now_on(type);
  if (quick_size(type) > 0) last_combination = {op, type, how, true};
}

void quick_swaps_from_now_on(MPI_Datatype type) {
  quick_from_now_on(type);
  if (quick_size(type) > 0) last_swap = {type, true};
}

bool quick_combine(const void* data, void* before, MPI_Count count, int rank, MPI_Aint displacement,
                   MPI_Datatype type, MPI_Op op, MPI_Win win) {
  const LastCombination& last = last_combination;
  if (!last.known || last.op != op || last.type != type) return false;
  const bool reads = last.how.op == rma::Op::NoOp;
  if ((data == nullptr || !in_reach_of_cpu(data)) && !reads) return false;
  if (before == nullptr ? reads : !in_reach_of_cpu(before)) return false;
  const auto [there, turn] = quick_elements(rank, displacement, count, type, win);
  if (turn == nullptr) return false;
  const std::size_t size = there.size;
  const std::span given{static_cast<const std::byte*>(data), reads ? 0 : size};
  const std::span found{static_cast<std::byte*>(before), before == nullptr ? 0 : size};
  return rma::combine_there(there, last.how, given, found, turn);
}

bool quick_swap(const void* wanted, const void* expected, void* before, MPI_Datatype type, int rank,
                MPI_Aint displacement, MPI_Win win) {
  if (!last_swap.known || last_swap.type != type) return false;
  for (const void* const here : {wanted, expected, static_cast<const void*>(before)}) {
    if (here == nullptr || !in_reach_of_cpu(here)) return false;
  }
  const auto [there, turn] = quick_elements(rank, displacement, 1, type, win);
  if (turn == nullptr) return false;
  rma::swap_there(there.memory, {static_cast<const std::byte*>(expected), there.size},
                  {static_cast<const std::byte*>(wanted), there.size},
                  {static_cast<std::byte*>(before), there.size}, turn);
  return true;
}

bool quick_flush(int rank, MPI_Win win) {
  GridWindow* const window = find_window(win);
  if (window == nullptr || !window->near.allowed(rank)) return false;
  return quick_flush_all(win);
}

bool quick_flush_all(MPI_Win win) {
  GridWindow* const window = find_window(win);
  if (window == nullptr || window->near.epochs() % 2 == 0) return false;
  if (!window->part->settled() || !idle()) return false;
  window->near.synchronize();
  return seen_by_all();
}

bool quick_sync(MPI_Win win) {
  GridWindow* const window = find_window(win);
  return window != nullptr && window->part->settled() && seen_by_all();
}

}  // namespace isthmus::face
