#include "mpi/file/file_data.hpp"

#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

FileData::FileData(const Memory& memory, Direction direction, RepresentationRef representation,
                   core::Format format)
    : memory_(memory), direction_(direction), representation_(std::move(representation)) {
  if (representation_->converts(direction)) {
    if (packed_size(memory.count, memory.type) == 0) return;
    check_reach_of_cpu(memory.buffer, "data in another representation of a file");
    type_ = KeptType(memory.type);
    const std::int64_t each = representation_->in_file(memory.type).size();
    converted_.resize(static_cast<std::size_t>(each) * static_cast<std::size_t>(memory.count));
    bytes_ = converted_;
    if (direction == Direction::Write) representation_->write(memory, bytes_);
  } else if (direction == Direction::Write) {
    out_ = std::make_unique<Outgoing>(memory.buffer, memory.count, memory.type);
    if (const Signature* const signature = out_->signature()) {
      check_known(*signature, format);
      out_->change_format(own_format(), format);
    }
    const auto bytes = out_->bytes();  // these bytes do not change
    bytes_ = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  } else {
    in_ = std::make_unique<Incoming>(memory.buffer, memory.count, memory.type);
    if (const Signature* const signature = in_->signature()) {
      check_known(*signature, format);
      in_->change_format(format, own_format());
    }
    bytes_ = in_->bytes();
  }
}

std::uint64_t FileData::finish(std::size_t got) {
  if (in_) {
    const int code = in_->finish(got);
    require_success(code, "the data could not be unpacked");
    return got;
  }
  if (out_ || converted_.empty()) return got;
  if (direction_ == Direction::Read) return representation_->read(bytes_.first(got), memory_);
  return packed_size(memory_.count, memory_.type);
}

}  // namespace isthmus::face
