// MPI-4.1 section 12.3: puts, gets and accumulates.
#include "mpi/native/entry.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/rma/access.hpp"
#include "mpi/rma/quick.hpp"

namespace isthmus::face {
namespace {

/// The last arguments of a call: its name, and before that its request if it has one.
struct Tail {
  explicit Tail(const char* name) : function(name) {}
  Tail(MPI_Request* place, const char* name) : function(name), request(place), asked(true) {}

  /// Calls the native function that has these last arguments.
  template <class Plain, class Requesting, class... Arguments>
  int call(Plain plain, Requesting requesting, Arguments... arguments) const {
    return asked ? requesting(arguments..., request) : plain(arguments...);
  }

  const char* function;
  MPI_Request* request = nullptr;
  bool asked = false;
};

/// `operate(window, as_request)` does it and returns the rest; `native_call` is the native function
/// with its arguments. The native library checks a call with MPI_PROC_NULL, which does nothing.
template <class Native, class Operate>
int access(MPI_Win win, int rank, const Tail& tail, Native&& native_call, Operate&& operate) {
  const GridWindowRef window = grid_window(win);
  if (!window || rank == MPI_PROC_NULL) return native_call(rank);
  return shielded(*window, tail.function, [&]() -> int {
    if (tail.request == nullptr) {
      if (const int code = native_call(MPI_PROC_NULL); code != MPI_SUCCESS) return code;
    }
    Rest rest = operate(*window, tail.request != nullptr);
    return rest ? make_request(std::move(rest), tail.request) : MPI_SUCCESS;
  });
}

template <class Count, class... Last>
int put(const void* origin, Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
        Count count, MPI_Datatype type, MPI_Win win, Last... last) {
  const Tail tail(last...);
  if (!tail.asked && quick_put(origin, origin_count, origin_type, rank, disp, count, type, win)) {
    return MPI_SUCCESS;
  }
  return access(
      win, rank, tail,
      [&](int target) {
        return tail.call(ISTHMUS_NATIVE(Put, Count), ISTHMUS_NATIVE(Rput, Count), origin,
                         origin_count, origin_type, target, disp, count, type, win);
      },
      [&](GridWindow& window, bool as_request) {
        return put(window, {origin, origin_count, origin_type}, {rank, disp, count, type},
                   as_request);
      });
}

template <class Count, class... Last>
int get(void* origin, Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
        Count count, MPI_Datatype type, MPI_Win win, Last... last) {
  const Tail tail(last...);
  if (!tail.asked && quick_get(origin, origin_count, origin_type, rank, disp, count, type, win)) {
    return MPI_SUCCESS;
  }
  return access(
      win, rank, tail,
      [&](int target) {
        return tail.call(ISTHMUS_NATIVE(Get, Count), ISTHMUS_NATIVE(Rget, Count), origin,
                         origin_count, origin_type, target, disp, count, type, win);
      },
      [&](GridWindow& window, bool as_request) {
        return get(window, {origin, origin_count, origin_type}, {rank, disp, count, type},
                   as_request);
      });
}

template <class Count, class... Last>
int accumulate(const void* origin, Count origin_count, MPI_Datatype origin_type, int rank,
               MPI_Aint disp, Count count, MPI_Datatype type, MPI_Op op, MPI_Win win,
               Last... last) {
  const Tail tail(last...);
  if (!tail.asked && origin_count == count && origin_type == type &&
      quick_combine(origin, nullptr, count, rank, disp, type, op, win)) {
    return MPI_SUCCESS;
  }
  return access(
      win, rank, tail,
      [&](int target) {
        return tail.call(ISTHMUS_NATIVE(Accumulate, Count), ISTHMUS_NATIVE(Raccumulate, Count),
                         origin, origin_count, origin_type, target, disp, count, type, op, win);
      },
      [&](GridWindow& window, bool as_request) {
        return accumulate(window, {origin, origin_count, origin_type}, {rank, disp, count, type},
                          op, as_request);
      });
}

template <class Count, class... Last>
int get_accumulate(const void* origin, Count origin_count, MPI_Datatype origin_type, void* result,
                   Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                   Count count, MPI_Datatype type, MPI_Op op, MPI_Win win, Last... last) {
  const Tail tail(last...);
  if (!tail.asked && origin_count == count && origin_type == type && result_count == count &&
      result_type == type && result != nullptr &&
      quick_combine(origin, result, count, rank, disp, type, op, win)) {
    return MPI_SUCCESS;
  }
  return access(
      win, rank, tail,
      [&](int target) {
        return tail.call(ISTHMUS_NATIVE(Get_accumulate, Count),
                         ISTHMUS_NATIVE(Rget_accumulate, Count), origin, origin_count, origin_type,
                         result, result_count, result_type, target, disp, count, type, op, win);
      },
      [&](GridWindow& window, bool as_request) {
        return get_accumulate(window, {origin, origin_count, origin_type},
                              {result, result_count, result_type}, {rank, disp, count, type}, op,
                              as_request);
      });
}

}  // namespace

#include "communicate_entries.inc"

ISTHMUS_MPI(Fetch_and_op)
(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
 MPI_Win win) {
  if (result != nullptr && quick_combine(origin, result, 1, rank, disp, type, op, win)) {
    return MPI_SUCCESS;
  }
  return access(
      win, rank, Tail("MPI_Fetch_and_op"),
      [&](int target) { return native.Fetch_and_op(origin, result, type, target, disp, op, win); },
      [&](GridWindow& window, bool as_request) {
        return get_accumulate(window, {origin, 1, type}, {result, 1, type}, {rank, disp, 1, type},
                              op, as_request);
      });
}

ISTHMUS_MPI(Compare_and_swap)
(const void* origin, const void* compare, void* result, MPI_Datatype type, int rank, MPI_Aint disp,
 MPI_Win win) {
  if (quick_swap(origin, compare, result, type, rank, disp, win)) return MPI_SUCCESS;
  return access(
      win, rank, Tail("MPI_Compare_and_swap"),
      [&](int target) {
        return native.Compare_and_swap(origin, compare, result, type, target, disp, win);
      },
      [&](GridWindow& window, bool) -> Rest {
        compare_and_swap(window, origin, compare, result, {rank, disp, 1, type});
        return nullptr;
      });
}

}  // namespace isthmus::face
