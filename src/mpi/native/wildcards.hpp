// The native library's wildcards are numbers of its own; the engine's are core::kAnySource and
// core::kAnyTag.
#pragma once

#include "core/wire/message.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

inline int engine_source(int source) {
  return source == MPI_ANY_SOURCE ? core::kAnySource : source;
}
inline int engine_tag(int tag) { return tag == MPI_ANY_TAG ? core::kAnyTag : tag; }
inline int native_tag(int tag) { return tag == core::kAnyTag ? MPI_ANY_TAG : tag; }

}  // namespace isthmus::face
