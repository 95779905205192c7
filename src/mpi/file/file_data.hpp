// The data of an access as the file has them: packed, and in its representation.
#pragma once

#include <memory>
#include <span>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/file/transfer.hpp"

namespace isthmus::face {

/// Bytes of basic elements in external32. Throws coll::Failure for what has no such form.
class ExternalSizes final : public BasicSizes {
 public:
  std::int64_t size(MPI_Datatype type, std::int64_t size) const override;
};

/// Program's thread only, but for bytes(), which do not move.
class FileData {
 public:
  /// Packs what is to be written. Throws coll::Failure.
  FileData(const Memory& memory, Direction direction, Representation representation);
  std::span<std::byte> bytes() { return bytes_; }
  /// The first `got` bytes have been read: unpacks them. Returns how many bytes of memory's
  /// elements they are. Throws coll::Failure.
  std::uint64_t finish(std::size_t got);

 private:
  Memory memory_;
  Direction direction_;
  std::unique_ptr<Outgoing> out_;
  std::unique_ptr<Incoming> in_;
  KeptType type_;  // in external32
  std::vector<std::byte> external_;
  std::span<std::byte> bytes_;
};

}  // namespace isthmus::face
