#include <utility>

#include "mpi/datatype/datatype.hpp"
#include "mpi/native/handle_uses.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

KeptType::KeptType(MPI_Datatype type)
    : type_(type), used_(type != MPI_DATATYPE_NULL && !is_predefined(type)) {
  if (used_) type_uses().begin(key(type));
}

KeptType::KeptType(KeptType&& other) noexcept
    : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)),
      used_(std::exchange(other.used_, false)) {}

KeptType& KeptType::operator=(KeptType&& other) noexcept {
  std::swap(type_, other.type_);
  std::swap(used_, other.used_);
  return *this;
}

KeptType::~KeptType() {
  if (used_ && type_uses().end(key(type_)) && grid() != nullptr) free_type(&type_);
}

}  // namespace isthmus::face
