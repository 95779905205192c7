#include "coll/engine/kept_memory.hpp"

namespace isthmus::coll {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMost = 0;
#else
constexpr std::size_t kMost = std::size_t{16} << 20;
#endif

}  // namespace

KeptMemory& kept_memory() {
  static KeptMemory& one = *new KeptMemory(kMost);  // outlives static objects that call MPI
  return one;
}

}  // namespace isthmus::coll
