#include "mpi/coll/coll_persistent.hpp"

#include <utility>

namespace isthmus::face {

KeptDatatype::KeptDatatype(MPI_Datatype type, bool significant) {
  if (significant && type != MPI_DATATYPE_NULL) kept_ = std::make_shared<const KeptType>(type);
}

int init_collective(const Call& call, MPI_Request* request,
                    std::function<int(const Call& call)> begin) {
  {
    // One that is never started, for its checks.
    std::unique_ptr<Operation> trial;
    const int code = begin({call.comm, call.function, nullptr, &trial});
    if (!trial) return code;
  }
  return make_persistent(
      call.comm->native,
      [comm = call.comm, function = call.function, begin = std::move(begin)] {
        std::unique_ptr<Operation> made;
        const int code = begin({comm, function, nullptr, &made, true});
        if (!made) throw MpiError(code, "the collective could not be started");
        return made;
      },
      request);
}

}  // namespace isthmus::face
