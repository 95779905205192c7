#include "mpi/datatype/signature.hpp"

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/datatype/type_cache.hpp"
#include "mpi/native/entry.hpp"

namespace isthmus::face {
namespace {

int number_element(MPI_Datatype type, int size) {
  const bool is_long_double = size == 16 && long_double_in(type) != nullptr;
  return is_long_double ? core::kLongDoubleElement : size;
}

int only_long_double(MPI_Datatype type, int size) {
  const int element = number_element(type, size);
  return element == core::kLongDoubleElement ? element : 1;
}

TypeCache<Signature>& known_signatures() {
  static auto* const all = new TypeCache<Signature>;  // never destroyed
  return *all;
}

/// Changes when a datatype is freed, and when a cluster of another kind is met.
std::uint64_t epoch_of(Differences now) {
  constexpr std::uint64_t kKinds = 3;
  return types_freed() * kKinds + static_cast<std::uint64_t>(now);
}

}  // namespace

SignatureRef differing_signature(MPI_Datatype type) {
  const Differences now = differences.load(std::memory_order_relaxed);
  const char* const long_double = long_double_in(type);
  if (now == Differences::LongDouble && long_double == nullptr) return nullptr;
  const std::uint64_t epoch = epoch_of(now);
  if (SignatureRef known = known_signatures().find(type, epoch)) return known;
  const auto element = now == Differences::LongDouble ? only_long_double : number_element;
  return known_signatures().put(type, epoch, {map_telling(type, element), long_double});
}

void change_format(std::span<std::byte> packed, const Signature* signature, core::Format from,
                   core::Format to) {
  if (signature != nullptr) core::change_format(packed, signature->map, from, to);
}

}  // namespace isthmus::face
