// The layout of data in files (MPI-4.1 section 14.5): as in memory, in external32, or as the
// program that registered it defines.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/datatype/type_map.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

enum class Direction { Read, Write };

struct Memory {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};

/// Represents data as in memory, unless a derived class overrides it.
class Representation {
 public:
  explicit Representation(std::string name) : name_(std::move(name)) {}
  virtual ~Representation() = default;
  Representation(const Representation&) = delete;
  Representation& operator=(const Representation&) = delete;

  const std::string& name() const { return name_; }
  /// The map of a datatype in a file. Throws MpiError.
  virtual core::TypeMap in_file(MPI_Datatype type) const;
  /// False: data in this direction is packed as in memory, and write and read are not called.
  virtual bool converts(Direction) const { return false; }
  /// Fills `file`, whose size comes from in_file. Throws MpiError.
  virtual void write(const Memory&, std::span<std::byte>) const {}
  /// Takes what `file` has whole. Returns how many bytes of memory's elements that are. Throws
  /// MpiError.
  virtual std::uint64_t read(std::span<std::byte>, const Memory&) const { return 0; }

 private:
  const std::string name_;
};
using RepresentationRef = std::shared_ptr<const Representation>;

/// Null if the name is unknown.
RepresentationRef registered(const std::string& name);
/// Throws MpiError with MPI_ERR_UNSUPPORTED_DATAREP if the name is unknown.
RepresentationRef representation_named(const char* name);
const RepresentationRef& native_representation();

}  // namespace isthmus::face
