#include "mpi/datatype/map_of.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "coll/engine/party.hpp"
#include "mpi/datatype/contents.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/type_cache.hpp"

namespace isthmus::face {
namespace {

using core::TypeMap;
using core::TypeMapBuilder;
using Numbers = std::span<const std::int64_t>;

/// The arguments of the call that made a datatype, in the order of the function's small form.
/// Counts and displacements are numbers alike, in every library.
struct Arguments {
  std::vector<std::int64_t> numbers;  // integers, or the large counts
  std::vector<std::int64_t> places;   // addresses, or the large displacements in bytes
  std::vector<int> integers;          // as reported: the arguments that are never large
};

Arguments arguments_of(const Envelope& e, const Contents& c) {
  Arguments a;
  a.integers = c.integers;
  if (e.large == 0) {
    a.numbers.assign(c.integers.begin(), c.integers.end());
    a.places.assign(c.addresses.begin(), c.addresses.end());
    return a;
  }
  a.numbers.assign(c.counts.begin(), c.counts.end());
  // Large displacements stand behind the counts, and bounds alone.
  std::size_t kept = a.numbers.size();
  switch (e.combiner) {
    case MPI_COMBINER_HVECTOR:
      kept = 2;
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      kept = 1 + static_cast<std::size_t>(a.numbers[0]);
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      kept = 2;
      break;
    case MPI_COMBINER_RESIZED:
      kept = 0;
      break;
    default:
      break;
  }
  a.places.assign(a.numbers.begin() + static_cast<std::ptrdiff_t>(kept), a.numbers.end());
  a.numbers.resize(kept);
  return a;
}

/// A predefined datatype whose elements are two of half the size.
bool of_two(MPI_Datatype type, int combiner) {
  if (combiner == MPI_COMBINER_F90_COMPLEX) return true;
  const std::uintptr_t k = key(type);
  for (const MPI_Datatype two :
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
        MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
        MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_2INT, MPI_2INTEGER, MPI_2REAL,
        MPI_2DOUBLE_PRECISION}) {
    if (k == key(two)) return true;
  }
  return false;
}

/// The value's datatype of a pair of a value and an int that has a gap, or might have.
std::optional<MPI_Datatype> value_of_pair(MPI_Datatype type) {
  const std::pair<MPI_Datatype, MPI_Datatype> pairs[] = {{MPI_FLOAT_INT, MPI_FLOAT},
                                                         {MPI_DOUBLE_INT, MPI_DOUBLE},
                                                         {MPI_LONG_INT, MPI_LONG},
                                                         {MPI_SHORT_INT, MPI_SHORT},
                                                         {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE}};
  for (const auto& [pair, value] : pairs) {
    if (key(pair) == key(type)) return value;
  }
  return std::nullopt;
}

class Maker {
 public:
  explicit Maker(const BasicSizes* sizes, ElementOf element = nullptr)
      : sizes_(sizes), element_(element) {}

  TypeMap make(MPI_Datatype type) const {
    Envelope e;
    MPI_Count size = 0, lower = 0, extent = 0;
    if (!get_envelope(type, e) || native.Type_size_x(type, &size) != MPI_SUCCESS ||
        native.Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS) {
      throw MpiError(MPI_ERR_TYPE, "this is no datatype");
    }
    if (e.never_freed()) return basic(type, e, size, extent);
    const Contents contents(type, e);
    if (!contents.valid) throw MpiError(MPI_ERR_TYPE, "how this datatype was made is unknown");
    const Arguments a = arguments_of(e, contents);
    const TypeMap map = derived(e.combiner, a, contents.types);
    return sizes_ == nullptr ? map.resized(lower, extent) : map;
  }

 private:
  TypeMap basic(MPI_Datatype type, const Envelope& e, std::int64_t size,
                std::int64_t extent) const {
    if (const auto value = value_of_pair(type)) {
      const TypeMap first = make(*value), second = make(MPI_INT);
      TypeMapBuilder builder;
      builder.add(first, 1, 0);
      const std::int64_t align = second.size();
      builder.add(second, 1, (first.size() + align - 1) / align * align);
      const TypeMap map = std::move(builder).build();
      return map.resized(0, sizes_ == nullptr ? extent : map.extent());
    }
    if (sizes_ != nullptr) size = extent = sizes_->size(type, size);
    const std::int64_t half = of_two(type, e.combiner) ? size / 2 : size;
    const int element = static_cast<int>(std::max<std::int64_t>(half, 1));
    return TypeMap::basic(size, extent, element_ == nullptr ? element : element_(type, element));
  }

  TypeMap derived(int combiner, const Arguments& a, const std::vector<MPI_Datatype>& types) const {
    const Numbers n(a.numbers), places(a.places);
    if (combiner == MPI_COMBINER_STRUCT) return structure(n, places, types);
    if (combiner == MPI_COMBINER_DARRAY) return darray(a, types.at(0));
    TypeMap element = make(types.at(0));
    const auto count = static_cast<std::size_t>(n.empty() ? 0 : n[0]);
    TypeMapBuilder builder;
    auto part = builder.element(element);
    switch (combiner) {
      case MPI_COMBINER_DUP:
        return element;
      case MPI_COMBINER_RESIZED:
        return element.resized(places[0], places[1]);
      case MPI_COMBINER_CONTIGUOUS:
        builder.add(part, n[0], 0);
        break;
      case MPI_COMBINER_VECTOR:
        builder.add(part, n[1], 0, n[0], n[2] * element.extent());
        break;
      case MPI_COMBINER_HVECTOR:
        builder.add(part, n[1], 0, n[0], places[0]);
        break;
      case MPI_COMBINER_INDEXED:
        for (std::size_t k = 0; k < count; ++k) {
          builder.add(part, n[1 + k], n[1 + count + k] * element.extent());
        }
        break;
      case MPI_COMBINER_HINDEXED:
        for (std::size_t k = 0; k < count; ++k) builder.add(part, n[1 + k], places[k]);
        break;
      case MPI_COMBINER_INDEXED_BLOCK:
        for (std::size_t k = 0; k < count; ++k) {
          builder.add(part, n[1], n[2 + k] * element.extent());
        }
        break;
      case MPI_COMBINER_HINDEXED_BLOCK:
        for (std::size_t k = 0; k < count; ++k) builder.add(part, n[1], places[k]);
        break;
      case MPI_COMBINER_SUBARRAY: {
        // Sizes of a large array are counts; dimensions and order are not.
        const bool large = a.integers.size() == 2;
        const auto d = static_cast<std::size_t>(a.integers.at(0));
        const Numbers all = large ? n : n.subspan(1);
        const int order = large ? a.integers[1] : a.integers.at(1 + 3 * d);
        return core::subarray_map(element, all.subspan(0, d), all.subspan(d, d),
                                  all.subspan(2 * d, d), order == MPI_ORDER_C);
      }
      default:
        throw MpiError(MPI_ERR_TYPE,
                       "the datatype was made in a way that Isthmus does not "
                       "know (combiner " +
                           std::to_string(combiner) + ")");
    }
    return std::move(builder).build();
  }

  TypeMap structure(Numbers n, Numbers places, const std::vector<MPI_Datatype>& types) const {
    TypeMapBuilder builder;
    std::vector<std::pair<std::uintptr_t, TypeMapBuilder::Element>> seen;
    for (std::size_t k = 0; k < types.size(); ++k) {
      const std::uintptr_t k_type = key(types[k]);
      if (seen.empty() || seen.back().first != k_type) {
        seen.assign(1, {k_type, builder.element(make(types[k]))});
      }
      builder.add(seen.back().second, n[1 + k], places[k]);
    }
    return std::move(builder).build();
  }

  TypeMap darray(const Arguments& a, MPI_Datatype type) const {
    // size, rank, dimensions, gsizes, distributions, arguments, processes, order; large: without
    // the gsizes, which are counts.
    const bool large = !a.numbers.empty() && a.numbers.size() != a.integers.size();
    const auto& i = a.integers;
    const auto d = static_cast<std::size_t>(i.at(2));
    const std::size_t rest = large ? 3 : 3 + d;
    std::vector<core::Distribution> dimensions(d);
    for (std::size_t k = 0; k < d; ++k) {
      core::Distribution& how = dimensions[k];
      how.size = large ? a.numbers.at(k) : i.at(3 + k);
      const int kind = i.at(rest + k), argument = i.at(rest + d + k);
      how.kind = kind == MPI_DISTRIBUTE_BLOCK    ? core::Distribution::Kind::Block
                 : kind == MPI_DISTRIBUTE_CYCLIC ? core::Distribution::Kind::Cyclic
                                                 : core::Distribution::Kind::None;
      how.argument = argument == MPI_DISTRIBUTE_DFLT_DARG ? 0 : argument;
      how.processes = i.at(rest + 2 * d + k);
    }
    return core::darray_map(make(type), dimensions, i.at(1), i.at(rest + 3 * d) == MPI_ORDER_C);
  }

  const BasicSizes* sizes_;
  const ElementOf element_;
};

TypeMap made(MPI_Datatype type, const Maker& maker) {
  try {
    return maker.make(type);
  } catch (const std::length_error& e) {
    throw MpiError(MPI_ERR_TYPE, e.what());
  }
}

TypeCache<TypeMap>& known_maps() {
  static auto* const all = new TypeCache<TypeMap>;  // never destroyed
  return *all;
}

}  // namespace

TypeMapRef map_of(MPI_Datatype type) {
  const std::uint64_t now = types_freed();
  if (TypeMapRef known = known_maps().find(type, now)) return known;
  return known_maps().put(type, now, made(type, Maker(nullptr)));
}

core::TypeMap map_with(MPI_Datatype type, const BasicSizes& sizes) {
  return made(type, Maker(&sizes));
}

core::TypeMap map_telling(MPI_Datatype type, ElementOf element) {
  return made(type, Maker(nullptr, element));
}

MPI_Datatype only_basic(MPI_Datatype type) {
  Envelope e;
  if (!get_envelope(type, e)) return MPI_DATATYPE_NULL;
  if (e.never_freed()) return type;
  const Contents contents(type, e);
  MPI_Datatype found = MPI_DATATYPE_NULL;
  for (const MPI_Datatype each : contents.types) {
    const MPI_Datatype basic = only_basic(each);
    if (basic == MPI_DATATYPE_NULL || (found != MPI_DATATYPE_NULL && found != basic)) {
      return MPI_DATATYPE_NULL;
    }
    found = basic;
  }
  return found;
}

}  // namespace isthmus::face
