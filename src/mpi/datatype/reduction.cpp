#include "mpi/datatype/reduction.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/datatype/formats.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/handle_uses.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

/// Reductions of more elements are cut; the natives' counts are ints.
constexpr std::size_t kPiece = std::size_t{1} << 30;

HandleUses& uses() {
  static auto* const all = new HandleUses;  // never destroyed
  return *all;
}

void* shifted(std::byte* from, MPI_Aint bytes) {
  // Through integers: the result may lie outside the memory that `from` points into.
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(from) +
                                 static_cast<std::uintptr_t>(bytes));
}

}  // namespace

KeptOp::KeptOp(MPI_Op op) : op_(op) { uses().begin(key(op)); }

KeptOp::~KeptOp() {
  if (op_ != MPI_OP_NULL && uses().end(key(op_))) native.Op_free(&op_);
}

TypedElements::TypedElements(coll::Bytes packed, std::size_t count, MPI_Datatype type, Fill fill,
                             SignatureRef signature)
    : count_(count), type_(type), signature_(std::move(signature)) {
  if (signature_) {
    changed_ = core::KeptBlock(packed.size());
    const coll::Bytes changed(changed_.get(), packed.size());
    if (fill == Fill::Unpack) {
      std::memcpy(changed.data(), packed.data(), packed.size());
      change_format(changed, signature_.get(), core::kCommonFormat, own_format());
    }
    packed = changed;
  }
  MPI_Aint lower = 0;
  const auto number = static_cast<MPI_Count>(count);
  if (is_contiguous(number, type, &lower)) {
    buffer_ = shifted(packed.data(), -lower);
    return;
  }
  MPI_Aint ignored = 0, extent = 0, true_extent = 0;
  require_success(native.Type_get_extent(type, &ignored, &extent), "MPI_Type_get_extent failed");
  require_success(native.Type_get_true_extent(type, &lower, &true_extent),
                  "MPI_Type_get_true_extent failed");
  // The first element begins at the lowest address unless elements go downwards.
  const MPI_Aint others = extent * static_cast<MPI_Aint>(count - 1);
  owned_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(true_extent + std::abs(others)));
  buffer_ = shifted(owned_.get(), -lower - std::min<MPI_Aint>(others, 0));
  if (fill == Fill::Nothing) return;
  Incoming incoming(buffer_, number, type);
  std::memcpy(incoming.bytes().data(), packed.data(), packed.size());
  require_success(incoming.finish(packed.size()), "MPI_Unpack failed");
}

void TypedElements::store(coll::Bytes packed) const {
  if (packed.empty() || (!owned_ && !changed_)) return;
  if (owned_) {
    const Outgoing outgoing(buffer_, static_cast<MPI_Count>(count_), type_);
    std::memcpy(packed.data(), outgoing.bytes().data(), packed.size());
  } else {
    std::memcpy(packed.data(), changed_.get(), packed.size());
  }
  if (signature_) change_format(packed, signature_.get(), own_format(), core::kCommonFormat);
}

FaceReduction::FaceReduction(MPI_Op op, MPI_Datatype type, bool outlives_call, const GridComm& comm)
    : op_(op), type_(type) {
  if (comm.mixes_formats && own_format() != core::kCommonFormat) signature_ = signature_of(type);
  int commutative = 0;
  require_success(native.Op_commutative(op, &commutative), "MPI_Op_commutative failed");
  commutative_ = commutative != 0;
  // The program's own handle: its operation may ask for the datatype's attributes and name.
  if (outlives_call) kept_type_ = KeptType(type);
  MPI_Aint lower = 0;
  require_success(native.Type_get_extent(type, &lower, &extent_), "MPI_Type_get_extent failed");
}

std::size_t FaceReduction::packed_size(std::size_t count) const {
  return isthmus::face::packed_size(static_cast<MPI_Count>(count), type_);
}

void FaceReduction::combine(coll::ConstBytes in, coll::Bytes inout, std::size_t count) {
  using Fill = TypedElements::Fill;
  // MPI_Reduce_local only reads its first argument.
  const coll::Bytes left_bytes(const_cast<std::byte*>(in.data()), in.size());
  const TypedElements left(left_bytes, count, type_, Fill::Unpack, signature_);
  const TypedElements right(inout, count, type_, Fill::Unpack, signature_);
  for (std::size_t first = 0; first < count; first += kPiece) {
    const auto offset = static_cast<MPI_Aint>(first) * extent_;
    require_success(
        native.Reduce_local(shifted(static_cast<std::byte*>(left.buffer()), offset),
                            shifted(static_cast<std::byte*>(right.buffer()), offset),
                            static_cast<int>(std::min(kPiece, count - first)), type_, op_.get()),
        "MPI_Reduce_local failed");
  }
  right.store(inout);
}

ISTHMUS_MPI(Op_free)(MPI_Op* op) {
  if (op == nullptr || !uses().put_off_free(key(*op))) return native.Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

}  // namespace isthmus::face
