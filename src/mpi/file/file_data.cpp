#include "mpi/file/file_data.hpp"

#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

FileData::FileData(const Memory& memory, Direction direction, RepresentationRef representation,
                   core::Format format)
    : memory_(memory), direction_(direction), representation_(std::move(representation)) {
  if (representation_->converts(direction)) {
    if (packed_size(memory.count, memory.type) == 0) return;
    if (is_on_device(memory)) image_ = std::make_unique<HostImage>(memory);
    type_ = KeptType(memory.type);
    const std::int64_t each = representation_->in_file(memory.type).size();
    converted_.resize(static_cast<std::size_t>(each) * static_cast<std::size_t>(memory.count));
    bytes_ = converted_;
    if (direction == Direction::Write) {
      if (image_) image_->load();
      representation_->write(image_ ? image_->here() : memory, bytes_);
      image_.reset();
    }
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
  if (direction_ == Direction::Read) {
    const Memory& to = image_ ? image_->here() : memory_;
    const std::uint64_t taken = representation_->read(bytes_.first(got), to);
    if (image_) image_->store(taken);
    return taken;
  }
  return packed_size(memory_.count, memory_.type);
}

}  // namespace isthmus::face
