// Reductions by MPI's own operations on MPI's own datatypes, over packed elements.
#pragma once

#include <cstddef>
#include <memory>

#include "coll/engine/party.hpp"
#include "core/base/kept_memory.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// An operation that stays valid until the last collective that uses it is done, although the
/// program may free it before.
class KeptOp {
 public:
  KeptOp() = default;
  explicit KeptOp(MPI_Op op);
  ~KeptOp();
  KeptOp(const KeptOp&) = delete;
  KeptOp& operator=(const KeptOp&) = delete;
  MPI_Op get() const { return op_; }

 private:
  MPI_Op op_ = MPI_OP_NULL;
};

/// Packed elements as typed memory for MPI's reductions: in place if the datatype has no gaps, and
/// the packed ones are in memory's format.
class TypedElements {
 public:
  enum class Fill { Nothing, Unpack };
  TypedElements() = default;
  /// `signature`: not null if the packed ones are in the common format, which is not memory's.
  TypedElements(coll::Bytes packed, std::size_t count, MPI_Datatype type, Fill fill,
                SignatureRef signature = nullptr);
  void* buffer() const { return buffer_; }
  /// Packs the elements back.
  void store(coll::Bytes packed) const;

 private:
  void* buffer_ = nullptr;
  std::size_t count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  SignatureRef signature_;
  core::KeptBlock changed_;  // packed, in memory's format
  std::unique_ptr<std::byte[]> owned_;
};

class FaceReduction final : public coll::Reduction {
 public:
  /// `outlives_call`: the program may free its handles before the reduction is done.
  FaceReduction(MPI_Op op, MPI_Datatype type, bool outlives_call, const GridComm& comm);
  bool commutative() const override { return commutative_; }
  std::size_t packed_size(std::size_t count) const override;
  void combine(coll::ConstBytes in, coll::Bytes inout, std::size_t count) override;
  MPI_Op op() const { return op_.get(); }
  MPI_Datatype type() const { return type_; }
  MPI_Aint extent() const { return extent_; }
  /// As TypedElements wants them.
  const SignatureRef& signature() const { return signature_; }

 private:
  KeptOp op_;
  KeptType kept_type_;
  MPI_Datatype type_;
  SignatureRef signature_;
  MPI_Aint extent_ = 0;
  bool commutative_ = false;
};

}  // namespace isthmus::face
