// What the starts of persistent collectives keep of their arguments.
#pragma once

#include <vector>

#include "mpi/coll/coll_persistent.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/native/large_count.hpp"

namespace isthmus::face {

/// The datatype of a buffer that may be MPI_IN_PLACE.
inline MPI_Datatype significant(const void* buffer, MPI_Datatype type) {
  return buffer == MPI_IN_PLACE ? MPI_DATATYPE_NULL : type;
}
inline MPI_Datatype at(bool here, MPI_Datatype type) { return here ? type : MPI_DATATYPE_NULL; }

/// An array of the program's that may be gone when the request is started. Elements that are not
/// significant are none; a null pointer stays one.
template <class T>
class Copied {
 public:
  Copied(const T* from, int elements) : given_(from != nullptr) {
    if (given_) values_.assign(from, from + elements);
  }
  const T* get() const { return given_ ? values_.data() : nullptr; }

 private:
  bool given_;
  std::vector<T> values_;
};

}  // namespace isthmus::face
