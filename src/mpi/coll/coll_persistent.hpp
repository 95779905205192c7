// Persistent collectives of grid communicators: each start is a collective like any other, with
// the arguments of the initialisation.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/reduction.hpp"

namespace isthmus::face {

/// A datatype that stays valid whatever the program does with its handle. One that is not
/// significant is not kept, but MPI_DATATYPE_NULL.
class KeptDatatype {
 public:
  explicit KeptDatatype(MPI_Datatype type, bool significant = true);
  MPI_Datatype get() const { return kept_ ? kept_->get() : MPI_DATATYPE_NULL; }

 private:
  std::shared_ptr<const KeptType> kept_;
};

/// The datatypes of blocks, by block; empty blocks have MPI_DATATYPE_NULL. A null pointer stays
/// null.
class KeptDatatypes {
 public:
  template <class Count>
  KeptDatatypes(const MPI_Datatype* types, const Count* counts, std::size_t blocks) {
    if (types == nullptr || counts == nullptr) return;
    for (std::size_t b = 0; b < blocks; ++b) kept_.emplace_back(types[b], counts[b] != 0);
    for (const KeptDatatype& kept : kept_) types_.push_back(kept.get());
  }
  const MPI_Datatype* get() const { return types_.empty() ? nullptr : types_.data(); }

 private:
  std::vector<KeptDatatype> kept_;
  std::vector<MPI_Datatype> types_;
};

class KeptOperation {
 public:
  /// One that is not significant is not kept, but MPI_OP_NULL.
  explicit KeptOperation(MPI_Op op, bool significant = true)
      : kept_(op == MPI_OP_NULL || !significant ? nullptr : new KeptOp(op)) {}
  MPI_Op get() const { return kept_ ? kept_->get() : MPI_OP_NULL; }

 private:
  std::shared_ptr<const KeptOp> kept_;
};

/// An array of the program's that may be gone when the request is started. A null pointer stays
/// one.
template <class T>
class Copied {
 public:
  Copied(const T* from, std::size_t elements) : given_(from != nullptr) {
    if (given_) values_.assign(from, from + elements);
  }
  const T* get() const { return given_ ? values_.data() : nullptr; }

 private:
  bool given_;
  std::vector<T> values_;
};

/// Makes the persistent request of a collective; `begin` holds what its starts need of the
/// arguments. `call` is without pointers. Wrong arguments are raised here, as `begin` does.
int init_collective(const Call& call, MPI_Request* request,
                    std::function<int(const Call& call)> begin);

}  // namespace isthmus::face
