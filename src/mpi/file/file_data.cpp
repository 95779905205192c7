#include "mpi/file/file_data.hpp"

#include "coll/engine/party.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

// Open MPI 4.1 declares the name as char*.
char* external32() {
  static char name[] = "external32";
  return name;
}

void check(int code) {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_ERR_CONVERSION;
  native.Error_class(code, &error_class);
  throw coll::Failure(error_class, "the native MPI library does not convert data to external32");
}

MPI_Aint external_size(MPI_Count count, MPI_Datatype type) {
  MPI_Aint size = 0;
  const Inside inside;
#if ISTHMUS_LARGE_COUNT
  MPI_Count large = 0;
  check(native.Pack_external_size_c(external32(), count, type, &large));
  size = static_cast<MPI_Aint>(large);
#else
  check(native.Pack_external_size(external32(), static_cast<int>(count), type, &size));
#endif
  return size;
}

void pack_external(const Memory& memory, std::span<std::byte> to) {
  const Inside inside;
#if ISTHMUS_LARGE_COUNT
  MPI_Count position = 0;
  check(native.Pack_external_c(external32(), memory.buffer, memory.count, memory.type, to.data(),
                               static_cast<MPI_Count>(to.size()), &position));
#else
  MPI_Aint position = 0;
  check(native.Pack_external(external32(), memory.buffer, static_cast<int>(memory.count),
                             memory.type, to.data(), static_cast<MPI_Aint>(to.size()), &position));
#endif
}

void unpack_external(std::span<const std::byte> from, const Memory& memory, MPI_Count count) {
  const Inside inside;
#if ISTHMUS_LARGE_COUNT
  MPI_Count position = 0;
  check(native.Unpack_external_c(external32(), from.data(), static_cast<MPI_Count>(from.size()),
                                 &position, memory.buffer, count, memory.type));
#else
  MPI_Aint position = 0;
  check(native.Unpack_external(external32(), const_cast<std::byte*>(from.data()),
                               static_cast<MPI_Aint>(from.size()), &position, memory.buffer,
                               static_cast<int>(count), memory.type));
#endif
}

}  // namespace

std::int64_t ExternalSizes::size(MPI_Datatype type, std::int64_t) const {
  return external_size(1, type);
}

FileData::FileData(const Memory& memory, Direction direction, Representation representation)
    : memory_(memory), direction_(direction) {
  if (representation == Representation::External32) {
    packed_size(memory.count, memory.type);
    type_ = KeptType(memory.type);
    const MPI_Aint each = memory.count == 0 ? 0 : external_size(1, memory.type);
    external_.resize(static_cast<std::size_t>(each) * static_cast<std::size_t>(memory.count));
    bytes_ = external_;
    if (direction == Direction::Write && !external_.empty()) pack_external(memory, bytes_);
  } else if (direction == Direction::Write) {
    out_ = std::make_unique<Outgoing>(memory.buffer, memory.count, memory.type);
    const auto bytes = out_->bytes();  // nobody writes to them
    bytes_ = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  } else {
    in_ = std::make_unique<Incoming>(memory.buffer, memory.count, memory.type);
    bytes_ = in_->bytes();
  }
}

std::uint64_t FileData::finish(std::size_t got) {
  if (in_) {
    const int code = in_->finish(got);
    require_success(code, "the data could not be unpacked");
    return got;
  }
  if (out_ || external_.empty()) return got;
  const std::size_t each = external_.size() / static_cast<std::size_t>(memory_.count);
  const auto whole = static_cast<MPI_Count>(got / each);
  if (direction_ == Direction::Read && whole > 0) {
    unpack_external(bytes_.first(each * static_cast<std::size_t>(whole)), memory_, whole);
  }
  return packed_size(whole, memory_.type);
}

}  // namespace isthmus::face
