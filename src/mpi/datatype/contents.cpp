#include "mpi/datatype/contents.hpp"

namespace isthmus::face {

bool get_envelope(MPI_Datatype type, Envelope& e) {
  if (type == MPI_DATATYPE_NULL) return false;  // the library would end the program
#if ISTHMUS_LARGE_COUNT
  if (native.Type_get_envelope_c != nullptr) {
    MPI_Count integers = 0, addresses = 0, datatypes = 0;
    const int code =
        native.Type_get_envelope_c(type, &integers, &addresses, &e.large, &datatypes, &e.combiner);
    e.integers = static_cast<int>(integers);
    e.addresses = static_cast<int>(addresses);
    e.datatypes = static_cast<int>(datatypes);
    return code == MPI_SUCCESS;
  }
#endif
  return native.Type_get_envelope(type, &e.integers, &e.addresses, &e.datatypes, &e.combiner) ==
         MPI_SUCCESS;
}

Contents::Contents(MPI_Datatype type, const Envelope& e)
    : integers(static_cast<std::size_t>(e.integers)),
      addresses(static_cast<std::size_t>(e.addresses)),
      counts(static_cast<std::size_t>(e.large)),
      types(static_cast<std::size_t>(e.datatypes), MPI_DATATYPE_NULL) {
#if ISTHMUS_LARGE_COUNT
  if (e.large != 0) {
    valid = native.Type_get_contents_c(type, e.integers, e.addresses, e.large, e.datatypes,
                                       integers.data(), addresses.data(), counts.data(),
                                       types.data()) == MPI_SUCCESS;
    return;
  }
#endif
  valid = native.Type_get_contents(type, e.integers, e.addresses, e.datatypes, integers.data(),
                                   addresses.data(), types.data()) == MPI_SUCCESS;
}

Contents::~Contents() {
  if (!valid) return;
  for (MPI_Datatype& type : types) {
    Envelope e;
    if (get_envelope(type, e) && !e.never_freed()) native.Type_free(&type);
  }
}

}  // namespace isthmus::face
