#include "coll/engine/kept_memory.hpp"

namespace isthmus::coll {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMostKept = 0;
#else
constexpr std::size_t kMostKept = std::size_t{16} << 20;
#endif

}  // namespace

KeptMemory& kept_memory() {
  static KeptMemory& one = *new KeptMemory(kMostKept);  // outlives static objects that call MPI
  return one;
}

}  // namespace isthmus::coll
