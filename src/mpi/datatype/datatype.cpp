#include "mpi/datatype/datatype.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "coll/engine/party.hpp"
#include "mpi/datatype/staging.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/process/differences.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/grid_request.hpp"

namespace isthmus::face {
namespace {

constexpr std::size_t kMaxInt = std::numeric_limits<int>::max();

/// Calls `part(first element, elements, first byte, bytes)` so that each part fits the int forms.
/// An element is at most kMaxInt bytes.
template <class Part>
void in_parts(MPI_Count count, std::size_t element, Part&& part) {
  const auto step = static_cast<MPI_Count>(kMaxInt / std::max<std::size_t>(element, 1));
  for (MPI_Count first = 0; first < count; first += step) {
    const MPI_Count n = std::min(step, count - first);
    part(first, n, static_cast<std::size_t>(first) * element,
         static_cast<std::size_t>(n) * element);
  }
}

/// Copies by a message to self, for elements too large for MPI_Pack: their number fits an int.
void copy(const void* from, std::size_t elements, MPI_Datatype type, void* to,
          std::size_t to_elements, MPI_Datatype to_type) {
  const int tag = SelfTag::acquire();
  const int code = native.Sendrecv(from, static_cast<int>(elements), type, 0, tag, to,
                                   static_cast<int>(to_elements), to_type, 0, tag, grid()->self,
                                   MPI_STATUS_IGNORE);
  SelfTag::release(tag);
  require_success(code, "copying a datatype with gaps failed");
}

template <class Pointer>
Pointer shifted(Pointer buffer, MPI_Aint bytes) {
  // Through integers: MPI_BOTTOM plus an address is an address.
  return reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(buffer) +
                                   static_cast<std::uintptr_t>(bytes));
}

/// The first byte of an element, to ask a GPU's driver about. The buffer itself may be MPI_BOTTOM.
template <class Pointer>
Pointer first_byte(Pointer buffer, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  if (!look_for_gpu_driver()) return buffer;
  require_success(native.Type_get_true_extent(type, &lower, &extent),
                  "MPI_Type_get_true_extent failed");
  return shifted(buffer, lower);
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  require_success(native.Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent failed");
  return extent;
}

/// MPICH's MPI_Pack and MPI_Unpack take no null buffer, so not MPI_BOTTOM either. The same data as
/// one element of a datatype whose displacements count from the first byte.
class AtAddress {
 public:
  AtAddress(MPI_Count count, MPI_Datatype of) {
    MPI_Aint lower = 0, extent = 0;
    require_success(native.Type_get_true_extent(of, &lower, &extent),
                    "MPI_Type_get_true_extent failed");
    if (!fits_int(count)) {
      throw MpiError(MPI_ERR_COUNT, "too many elements at MPI_BOTTOM: at most 2147483647");
    }
    buffer = shifted(static_cast<std::byte*>(nullptr), lower);
    int length = static_cast<int>(count);
    MPI_Aint displacement = -lower;
    require_success(native.Type_create_hindexed(1, &length, &displacement, of, &type),
                    "MPI_Type_create_hindexed failed");
    require_success(native.Type_commit(&type), "MPI_Type_commit failed");
  }
  ~AtAddress() { native.Type_free(&type); }
  AtAddress(const AtAddress&) = delete;
  AtAddress& operator=(const AtAddress&) = delete;

  std::byte* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

void pack(const void* buffer, MPI_Count count, MPI_Datatype type, std::span<std::byte> out) {
  if (buffer == MPI_BOTTOM) {
    const AtAddress at(count, type);
    pack(at.buffer, 1, at.type, out);
    return;
  }
  const MPI_Comm self = grid()->self;
#if ISTHMUS_LARGE_COUNT
  if (native.Pack_c != nullptr) {
    MPI_Count position = 0;
    require_success(native.Pack_c(buffer, count, type, out.data(),
                                  static_cast<MPI_Count>(out.size()), &position, self),
                    "MPI_Pack failed");
    return;
  }
#endif
  const auto elements = static_cast<std::size_t>(count);
  const std::size_t element = out.size() / elements;
  if (element > kMaxInt) {
    return copy(buffer, elements, type, out.data(), 1, ManyBytes(out.size()).get());
  }
  const MPI_Aint extent = extent_of(type);
  in_parts(count, element, [&](MPI_Count first, MPI_Count n, std::size_t byte, std::size_t bytes) {
    int position = 0;
    require_success(native.Pack(shifted(buffer, first * extent), static_cast<int>(n), type,
                                out.data() + byte, static_cast<int>(bytes), &position, self),
                    "MPI_Pack failed");
  });
}

void unpack(std::span<const std::byte> in, void* buffer, MPI_Count count, MPI_Datatype type) {
  if (buffer == MPI_BOTTOM) {
    const AtAddress at(count, type);
    unpack(in, at.buffer, 1, at.type);
    return;
  }
  const MPI_Comm self = grid()->self;
#if ISTHMUS_LARGE_COUNT
  if (native.Unpack_c != nullptr) {
    MPI_Count position = 0;
    require_success(native.Unpack_c(in.data(), static_cast<MPI_Count>(in.size()), &position, buffer,
                                    count, type, self),
                    "MPI_Unpack failed");
    return;
  }
#endif
  const auto elements = static_cast<std::size_t>(count);
  const std::size_t element = in.size() / elements;
  if (element > kMaxInt) {
    return copy(in.data(), 1, ManyBytes(in.size()).get(), buffer, elements, type);
  }
  const MPI_Aint extent = extent_of(type);
  in_parts(count, element, [&](MPI_Count first, MPI_Count n, std::size_t byte, std::size_t bytes) {
    int position = 0;
    require_success(native.Unpack(in.data() + byte, static_cast<int>(bytes), &position,
                                  shifted(buffer, first * extent), static_cast<int>(n), type, self),
                    "MPI_Unpack failed");
  });
}

}  // namespace

ManyBytes::ManyBytes(std::uint64_t size) {
  constexpr std::uint64_t kChunk = 1U << 30;
  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  require_success(native.Type_contiguous(static_cast<int>(kChunk), MPI_BYTE, &chunk),
                  "MPI_Type_contiguous failed");
  int lengths[] = {static_cast<int>(size / kChunk), static_cast<int>(size % kChunk)};
  MPI_Aint places[] = {0, static_cast<MPI_Aint>(size / kChunk * kChunk)};
  MPI_Datatype types[] = {chunk, MPI_BYTE};
  const int code = native.Type_create_struct(2, lengths, places, types, &type_);
  native.Type_free(&chunk);
  require_success(code, "MPI_Type_create_struct failed");
  require_success(native.Type_commit(&type_), "MPI_Type_commit failed");
}

ManyBytes::~ManyBytes() { native.Type_free(&type_); }

Outgoing::Outgoing(const void* buffer, MPI_Count count, MPI_Datatype type, Copy copy) {
  const std::size_t size = packed_size(count, type);
  if (size == 0) return;
  signature_ = signature_of(type);
  MPI_Aint lower = 0;
  const bool in_place = is_contiguous(count, type, &lower);
  const auto* data = static_cast<const std::byte*>(shifted(buffer, lower));
  const std::byte* const first =
      in_place ? data : first_byte(static_cast<const std::byte*>(buffer), type);
  const bool staged = (in_place || has_gpu_driver()) && on_device(first);
  if (in_place && copy != Copy::Always && !staged) {
    bytes_ = {data, size};
    return;
  }
  // A library may pack the value of a long double without its padding: bytes of another message
  // would then go to another site.
  owned_ = staged ? staging_memory(first, size) : PinnedPool::plain(size);
  if (long_double_in(type) != nullptr) std::memset(owned_.get(), 0, size);
  bytes_ = {owned_.get(), size};
  if (staged && copy == Copy::Flowing && size >= DeviceSource::kLeast) {
    source_ = std::make_unique<DeviceSource>(buffer, count, type, std::span(owned_.get(), size));
  } else if (staged) {
    pack_from_device(buffer, count, type, {owned_.get(), size});
  } else if (in_place) {
    std::memcpy(owned_.get(), data, size);
  } else {
    pack(buffer, count, type, {owned_.get(), size});
  }
}

void Outgoing::send(core::SendOp& op) {
  op.data = bytes_;
  op.envelope.size = bytes_.size();
  if (source_) op.ready = 0;
  grid()->endpoint->send(op);
  if (source_) source_->feed(op);
}

Incoming::Incoming(void* buffer, MPI_Count count, MPI_Datatype type)
    : buffer_(buffer), count_(count) {
  const std::size_t size = packed_size(count, type);
  if (size == 0) return;
  signature_ = signature_of(type);
  MPI_Aint lower = 0;
  const bool in_place = is_contiguous(count, type, &lower);
  auto* const data = static_cast<std::byte*>(shifted(buffer, lower));
  const std::byte* const first =
      in_place ? data : first_byte(static_cast<const std::byte*>(buffer), type);
  staged_ = (in_place || has_gpu_driver()) && on_device(first);
  if (in_place && !staged_) {
    bytes_ = {data, size};
    return;
  }
  type_ = KeptType(type);
  owned_ = staged_ ? staging_memory(first, size) : PinnedPool::plain(size);
  bytes_ = {owned_.get(), size};
}

void Outgoing::change_format(core::Format from, core::Format to) {
  if (!signature_ || from == to) return;
  if (source_) {
    source_->copy();
    source_.reset();
  }
  if (!owned_) {
    owned_ = PinnedPool::plain(bytes_.size());
    std::memcpy(owned_.get(), bytes_.data(), bytes_.size());
    bytes_ = {owned_.get(), bytes_.size()};
  }
  face::change_format({owned_.get(), bytes_.size()}, signature_.get(), from, to);
}

void Incoming::receive_into(core::RecvOp& op) {
  op.buffer = bytes_.data();
  op.capacity = bytes_.size();
  // Bytes of another format are changed first, when all have come.
  const bool flows = staged_ && bytes_.size() >= 2 * DeviceSink::kStep &&
                     differences.load(std::memory_order_relaxed) == Differences::None;
  op.follow = flows ? DeviceSink::kStep : 0;
}

DeviceSink& Incoming::sink() {
  if (!sink_) sink_ = std::make_unique<DeviceSink>(bytes_, buffer_, count_, type_.get());
  return *sink_;
}

void Incoming::take(std::size_t prefix) {
  if (prefix == 0) return;
  try {
    sink().take(prefix);
  } catch (const MpiError&) {  // NOLINT(bugprone-empty-catch): finish() throws it, too
  }
}

int Incoming::finish(std::size_t received) {
  int code = MPI_SUCCESS;
  try {
    unpack_first(std::min(received, bytes_.size()));
  } catch (const MpiError& failure) {
    code = failure.code;
  }
  sink_.reset();
  owned_.reset();
  type_ = KeptType();
  return code;
}

void Incoming::unpack_first(std::size_t received) {
  face::change_format(bytes_.first(received), signature_.get(), come_in_, become_);
  come_in_ = become_;
  if (!owned_) return;
  if (staged_) {
    if (received > 0) sink().finish(received);
    return;
  }
  const std::size_t element = bytes_.size() / static_cast<std::size_t>(count_);
  const std::size_t whole = received / element;
  if (whole > 0) {
    unpack({owned_.get(), whole * element}, buffer_, static_cast<MPI_Count>(whole), type_.get());
  }
  if (received > whole * element) finish_part(whole, received - whole * element);
}

// The message ended within an element. The bytes that the native library would leave untouched are
// packed from the buffer first, so that unpacking puts them back.
void Incoming::finish_part(std::size_t element_index, std::size_t received) {
  const std::size_t element = bytes_.size() / static_cast<std::size_t>(count_);
  void* target = shifted(buffer_, static_cast<MPI_Aint>(element_index) * extent_of(type_.get()));
  const auto merged = std::make_unique_for_overwrite<std::byte[]>(element);
  pack(target, 1, type_.get(), {merged.get(), element});
  std::memcpy(merged.get(), owned_.get() + element_index * element, received);
  unpack({merged.get(), element}, target, 1, type_.get());
}

}  // namespace isthmus::face
