// The two forms of functions with counts: int (MPI_Send) and MPI_Count (MPI_Send_c). Libraries
// without large counts (Open MPI before its own _c functions) have only the first. A face must not
// define what its mpi.h lacks:
//
//   template <class Count>
//   int send(const void* buf, Count count, ...) {
//     ... return ISTHMUS_NATIVE(Send, Count)(buf, count, ...);
//   }
//   ISTHMUS_MPI(Send)(const void* buf, int count, ...) { return send(buf, count, ...); }
//   #if ISTHMUS_LARGE_COUNT
//   ISTHMUS_MPI(Send_c)(const void* buf, MPI_Count count, ...) { return send(buf, count, ...); }
//   #endif
#pragma once

#include <limits>
#include <type_traits>

#include "mpi/native/native.hpp"

namespace isthmus::face {

template <class Count, class Small, class Large>
auto by_count(Small small, [[maybe_unused]] Large large) {
  if constexpr (std::is_same_v<Count, int>) {
    return small;
  } else {
    return large;
  }
}

/// True when an MPI_Count fits the int forms.
constexpr bool fits_int(MPI_Count count) {
  return count >= 0 && count <= std::numeric_limits<int>::max();
}

}  // namespace isthmus::face

/// The native function for counts of type Count (int or MPI_Count). If mpi.h has no large counts it
/// is the int form.
#if ISTHMUS_LARGE_COUNT
#define ISTHMUS_NATIVE(name, Count) \
  ::isthmus::face::by_count<Count>(::isthmus::face::native.name, ::isthmus::face::native.name##_c)
#else
#define ISTHMUS_NATIVE(name, Count) (::isthmus::face::native.name)
#endif
