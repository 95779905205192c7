// The data of an access as the file has them: packed, and in its representation.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/file/host_image.hpp"
#include "mpi/file/representation.hpp"

namespace isthmus::face {

/// Program's thread only, except for bytes(), which do not move.
class FileData {
 public:
  /// Packs the data to write. `format`: the file's, unless the representation converts. Throws
  /// MpiError.
  FileData(const Memory& memory, Direction direction, RepresentationRef representation,
           core::Format format);
  std::span<std::byte> bytes() { return bytes_; }
  /// The first `got` bytes have been read: unpacks them. Returns how many bytes of memory's
  /// elements they are. Throws MpiError.
  std::uint64_t finish(std::size_t got);

 private:
  Memory memory_;
  Direction direction_;
  std::unique_ptr<Outgoing> out_;
  std::unique_ptr<Incoming> in_;
  RepresentationRef representation_;
  KeptType type_;                     // of converted data
  std::unique_ptr<HostImage> image_;  // of converted data for a device
  std::vector<std::byte> converted_;
  std::span<std::byte> bytes_;
};

}  // namespace isthmus::face
