// A datatype's construction, as MPI_Type_get_envelope and MPI_Type_get_contents report it. One form
// serves large counts and int counts.
#pragma once

#include <vector>

#include "mpi/native/native.hpp"

namespace isthmus::face {

struct Envelope {
  int integers = 0, addresses = 0, datatypes = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Count large = 0;  // numbers of elements among the arguments, of a type made by an _c function

  /// Predefined, or of MPI_Type_create_f90_...: never freed.
  bool never_freed() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

/// False if the library does not know the datatype.
bool get_envelope(MPI_Datatype type, Envelope& e);

/// The arguments that a derived datatype was made with. The datatypes among them are freed with it.
class Contents {
 public:
  Contents(MPI_Datatype type, const Envelope& e);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> counts;  ///< the large ones
  std::vector<MPI_Datatype> types;
  bool valid;
};

}  // namespace isthmus::face
