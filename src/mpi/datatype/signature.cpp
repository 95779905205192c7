#include "mpi/datatype/signature.hpp"

#include <unordered_map>

#include "core/base/mutex.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
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

constexpr std::size_t kMostSignatures = 256;

struct KnownSignature {
  std::uint64_t epoch;
  Differences differences;
  SignatureRef signature;
};
struct KeptSignatures {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, KnownSignature> of GUARDED_BY(mutex);
};
KeptSignatures& signatures() {
  static auto* const all = new KeptSignatures;  // never destroyed
  return *all;
}

}  // namespace

SignatureRef differing_signature(MPI_Datatype type) {
  const Differences now = differences.load(std::memory_order_relaxed);
  const char* const long_double = long_double_in(type);
  if (now == Differences::LongDouble && long_double == nullptr) return nullptr;
  const std::uint64_t epoch = types_freed();
  {
    const core::Lock lock(signatures().mutex);
    const auto found = signatures().of.find(key(type));
    if (found != signatures().of.end() && found->second.epoch == epoch &&
        found->second.differences == now) {
      return found->second.signature;
    }
  }
  const auto element = now == Differences::LongDouble ? only_long_double : number_element;
  auto made = std::make_shared<const Signature>(Signature{map_telling(type, element), long_double});
  const core::Lock lock(signatures().mutex);
  if (signatures().of.size() >= kMostSignatures) signatures().of.clear();
  signatures().of.insert_or_assign(key(type), KnownSignature{epoch, now, made});
  return made;
}

void change_format(std::span<std::byte> packed, const Signature* signature, core::Format from,
                   core::Format to) {
  if (signature != nullptr) core::change_format(packed, signature->map, from, to);
}

}  // namespace isthmus::face
