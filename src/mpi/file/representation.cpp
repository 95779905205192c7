#include "mpi/file/representation.hpp"

#include <cfloat>

#include "coll/engine/party.hpp"
#include "file/external32.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/native/entry.hpp"

namespace isthmus::face {
namespace {

bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> types) {
  for (const MPI_Datatype each : types) {
    if (key(each) == key(type)) return true;
  }
  return false;
}

/// As in file/external32.hpp.
int external_element(MPI_Datatype type, int size) {
  if (size == 8 && is_one_of(type, {MPI_LONG})) return file::kLong;
  if (size == 8 && is_one_of(type, {MPI_UNSIGNED_LONG})) return file::kUnsignedLong;
  if (size == 4 && is_one_of(type, {MPI_WCHAR})) return file::kWideCharacter;
  if (LDBL_MANT_DIG == 64 && size == 16 &&
      is_one_of(type, {MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX})) {
    return file::kExtendedDouble;
  }
  return size;
}

class ExternalSizes final : public BasicSizes {
 public:
  std::int64_t size(MPI_Datatype type, std::int64_t size) const override {
    const core::TypeMap map = map_telling(type, external_element);
    core::TypeCursor cursor(map, 1);
    const core::Piece piece = cursor.next(size);
    if (piece.length == 0) return size;
    return size / file::in_memory(piece.element) * file::in_external32(piece.element);
  }
};

// Not by the native library: MPICH (4.0, 5.0) aborts at most of C's newer types, and Open MPI (4.1,
// 5.0) packs a long into 4 bytes but reports 8.
class External32 final : public Representation {
 public:
  External32() : Representation("external32") {}

  core::TypeMap in_file(MPI_Datatype type) const override {
    return map_with(type, ExternalSizes());
  }
  bool converts(Direction) const override { return true; }
  void write(const Memory& memory, std::span<std::byte> file) const override {
    const core::TypeMap map = map_telling(memory.type, external_element);
    core::TypeCursor cursor(map, memory.count);
    file::to_external32(cursor, static_cast<const std::byte*>(memory.buffer), file);
  }
  std::uint64_t read(std::span<std::byte> file, const Memory& memory) const override {
    const core::TypeMap map = map_telling(memory.type, external_element);
    core::TypeCursor cursor(map, memory.count);
    return file::from_external32(cursor, file, static_cast<std::byte*>(memory.buffer));
  }
};

}  // namespace

core::TypeMap Representation::in_file(MPI_Datatype type) const { return *map_of(type); }

const RepresentationRef& native_representation() {
  static const auto* const one =  // never destroyed
      new RepresentationRef(std::make_shared<Representation>("native"));
  return *one;
}

RepresentationRef representation_named(const char* name) {
  static const RepresentationRef internal = std::make_shared<Representation>("internal");
  static const RepresentationRef external32 = std::make_shared<External32>();
  const std::string text = name == nullptr ? "" : name;
  if (text == "native") return native_representation();
  if (text == "internal") return internal;
  if (text == "external32" || text == "EXTERNAL32") return external32;
  if (auto found = registered(text)) return found;
  throw MpiError(MPI_ERR_UNSUPPORTED_DATAREP,
                 "the representation \"" + text +
                     "\" is none of native, internal and external32, and not registered");
}

}  // namespace isthmus::face
