// Which datatypes can be used in place, and which hold a long double. Answers are cached per
// thread, so that asking again costs a few ns; MPI_Type_free makes all cached answers about derived
// datatypes stale.
#include <array>
#include <atomic>
#include <cfloat>
#include <memory>
#include <vector>

#include "mpi/datatype/contents.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/type_shape.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/handle_uses.hpp"

namespace isthmus::face {
namespace {

std::atomic<std::uint64_t> freed{1};  // datatypes so far, plus 1

struct Cached {
  std::uintptr_t key = 0;
  std::uint64_t epoch = 0;  // of `freed`; 0 is never current, kForever always is
  Shape shape;
};
constexpr std::uint64_t kForever = ~std::uint64_t{0};
constexpr std::size_t kCacheSize = 64;

Shape examine(MPI_Datatype type);

const char* long_double_among(const std::vector<MPI_Datatype>& types) {
  for (const MPI_Datatype type : types) {
    if (const char* name = examine(type).long_double; name != nullptr) return name;
  }
  return nullptr;
}

Shape from_contents(int combiner, const Contents& c) {
  const auto& i = c.integers;
  const auto n = i.empty() ? std::size_t{0} : static_cast<std::size_t>(i[0]);
  ShapeBuilder builder;
  switch (combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return examine(c.types[0]);
    case MPI_COMBINER_CONTIGUOUS: {
      const Shape element = examine(c.types[0]);
      return vector_shape(element, 1, i[0], 0);
    }
    case MPI_COMBINER_VECTOR: {
      const Shape element = examine(c.types[0]);
      return vector_shape(element, i[0], i[1], i[2] * element.extent);
    }
    case MPI_COMBINER_HVECTOR:
      return vector_shape(examine(c.types[0]), i[0], i[1], c.addresses[0]);
    case MPI_COMBINER_INDEXED: {
      const Shape element = examine(c.types[0]);
      for (std::size_t k = 0; k < n; ++k) {
        builder.add(element, i[1 + k], i[1 + n + k] * element.extent);
      }
      return builder.shape();
    }
    case MPI_COMBINER_HINDEXED: {
      const Shape element = examine(c.types[0]);
      for (std::size_t k = 0; k < n; ++k) builder.add(element, i[1 + k], c.addresses[k]);
      return builder.shape();
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const Shape element = examine(c.types[0]);
      for (std::size_t k = 0; k < n; ++k) builder.add(element, i[1], i[2 + k] * element.extent);
      return builder.shape();
    }
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const Shape element = examine(c.types[0]);
      for (std::size_t k = 0; k < n; ++k) builder.add(element, i[1], c.addresses[k]);
      return builder.shape();
    }
    case MPI_COMBINER_STRUCT:
      for (std::size_t k = 0; k < n; ++k) {
        builder.add(examine(c.types[k]), i[1 + k], c.addresses[k]);
      }
      return builder.shape();
    case MPI_COMBINER_SUBARRAY: {
      const std::span<const int> all(i);
      return subarray_shape(examine(c.types[0]), all.subspan(1, n), all.subspan(1 + n, n),
                            all.subspan(1 + 2 * n, n), i[1 + 3 * n] == MPI_ORDER_C);
    }
    default:  // distributed arrays and future kinds: packing is always right
      return {.long_double = long_double_among(c.types)};
  }
}

/// The name of a predefined datatype of long double; null for all others.
const char* long_double_name(MPI_Datatype type) {
  const std::uintptr_t k = key(type);
  if (k == key(MPI_LONG_DOUBLE)) return "MPI_LONG_DOUBLE";
  if (k == key(MPI_C_LONG_DOUBLE_COMPLEX)) return "MPI_C_LONG_DOUBLE_COMPLEX";
  if (k == key(MPI_CXX_LONG_DOUBLE_COMPLEX)) return "MPI_CXX_LONG_DOUBLE_COMPLEX";
  if (k == key(MPI_LONG_DOUBLE_INT)) return "MPI_LONG_DOUBLE_INT";
  return nullptr;
}

/// For a datatype of a Fortran kind chosen by precision and range: between double and x86's long
/// double, each architecture has its own format.
const char* long_double_kind(int combiner, const Contents& c) {
  constexpr int kDigits = 18;  // of x86's long double
  const int digits = c.integers[0], range = c.integers[1];
  const bool fits_double = digits <= DBL_DIG && range < DBL_MAX_10_EXP;
  if (fits_double || digits > kDigits) return nullptr;
  return combiner == MPI_COMBINER_F90_REAL ? "a datatype of MPI_Type_create_f90_real"
                                           : "a datatype of MPI_Type_create_f90_complex";
}

const char* long_double_of_predefined(MPI_Datatype type, const Envelope& e) {
  if (e.combiner == MPI_COMBINER_F90_REAL || e.combiner == MPI_COMBINER_F90_COMPLEX) {
    const Contents contents(type, e);
    if (contents.valid) return long_double_kind(e.combiner, contents);
  }
  return long_double_name(type);
}

Shape examine(MPI_Datatype type) {
  Envelope e;
  if (!get_envelope(type, e)) return {};
  MPI_Count size = 0, lower = 0, extent = 0;
  native.Type_size_x(type, &size);
  native.Type_get_extent_x(type, &lower, &extent);
  Shape shape;
  if (e.never_freed()) {
    shape = {.run = size == extent && lower == 0,
             .lower = 0,
             .long_double = long_double_of_predefined(type, e)};
  } else {
    const Contents contents(type, e);
    if (contents.valid && e.large == 0) {
      shape = from_contents(e.combiner, contents);
    } else if (contents.valid) {
      shape.long_double = long_double_among(contents.types);
    }
  }
  shape.size = size;
  shape.extent = extent;
  if (size == 0) shape = {.run = true, .lower = 0, .size = 0, .extent = extent};
  return shape;
}

const Cached& cached(MPI_Datatype type) {
  // On the heap: a library opened at run time has little room for thread-local storage.
  thread_local const auto cache = std::make_unique<std::array<Cached, kCacheSize>>();
  const std::uintptr_t k = key(type);
  Cached& entry = (*cache)[(k ^ (k >> 6) ^ (k >> 12)) % kCacheSize];
  const std::uint64_t now = freed.load(std::memory_order_acquire);
  if (entry.key == k && (entry.epoch == now || entry.epoch == kForever)) return entry;
  entry.key = 0;
  entry.shape = examine(type);
  entry.epoch = is_predefined(type) ? kForever : now;
  entry.key = k;
  return entry;
}

}  // namespace

bool is_predefined(MPI_Datatype type) {
  Envelope e;
  return get_envelope(type, e) && e.never_freed();
}

bool is_contiguous(MPI_Count count, MPI_Datatype type, MPI_Aint* lower) {
  *lower = 0;
  if (count == 0) return true;
  const Shape& shape = cached(type).shape;
  *lower = static_cast<MPI_Aint>(shape.lower);
  return shape.run_of(count);
}

std::size_t packed_size(MPI_Count count, MPI_Datatype type) {
  if (count == 0) return 0;
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(cached(type).shape.size);
}

const char* long_double_in(MPI_Datatype type) { return cached(type).shape.long_double; }

std::uint64_t types_freed() { return freed.load(std::memory_order_acquire); }

int free_type(MPI_Datatype* type) {
  freed.fetch_add(1, std::memory_order_release);
  return native.Type_free(type);
}

HandleUses& type_uses() {
  static auto* const all = new HandleUses;  // never destroyed
  return *all;
}

ISTHMUS_MPI(Type_free)(MPI_Datatype* type) {
  if (type == nullptr || !type_uses().put_off_free(key(*type))) return free_type(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
