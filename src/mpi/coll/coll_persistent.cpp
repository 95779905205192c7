#include "mpi/coll/coll_persistent.hpp"

#include <utility>

#include "mpi/process/shield.hpp"

namespace isthmus::face {

KeptArguments::KeptArguments(const std::vector<MPI_Datatype>& types, MPI_Op op) {
  for (const MPI_Datatype type : types) {
    types_.push_back(type);
    if (type == MPI_DATATYPE_NULL) continue;
    kept_.emplace_back(type);
    types_.back() = kept_.back().get();
  }
  if (op != MPI_OP_NULL) op_ = std::make_unique<KeptOp>(op);
}

int init_collective(const Call& call, MPI_Request* request, std::vector<MPI_Datatype> types,
                    MPI_Op op, Begin begin) {
  return shielded(call.comm->native, call.function, [&]() -> int {
    {
      // One that is never started, for its checks.
      std::unique_ptr<Operation> trial;
      const int code = begin(types.data(), {call.comm, call.function, nullptr, &trial});
      if (!trial) return code;
    }
    const auto kept = std::make_shared<KeptArguments>(types, op);
    return make_persistent(
        call.comm->native,
        [comm = call.comm, function = call.function, kept, begin = std::move(begin)] {
          std::unique_ptr<Operation> made;
          const int code = begin(kept->types(), {comm, function, nullptr, &made});
          if (!made) throw coll::Failure(code, "the collective could not be started");
          return made;
        },
        request);
  });
}

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
        const int code = begin({comm, function, nullptr, &made});
        if (!made) throw coll::Failure(code, "the collective could not be started");
        return made;
      },
      request);
}

}  // namespace isthmus::face
