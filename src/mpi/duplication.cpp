#include "mpi/duplication.hpp"

#include "mpi/agreement.hpp"
#include "mpi/entry.hpp"
#include "mpi/making.hpp"

namespace isthmus::face {
namespace {

class Duplication final : public Operation {
 public:
  Duplication(GridCommRef parent, MPI_Comm made, MPI_Request copied, std::uint64_t context)
      : parent_(std::move(parent)), made_(made), copied_(copied), context_(context) {}

  bool advance() override {
    int done = 0;
    result.error = native.Test(&copied_, &done, MPI_STATUS_IGNORE);
    if (result.error == MPI_SUCCESS && done == 0) return false;
    if (result.error == MPI_SUCCESS) {
      result.error = finish_comm(parent_->group, context_, made_, parent_->cart, &made_);
    }
    return true;
  }

 private:
  GridCommRef parent_;
  MPI_Comm made_;
  MPI_Request copied_;
  std::uint64_t context_;
};

}  // namespace

std::unique_ptr<Operation> duplication(const GridCommRef& parent, MPI_Comm comm, MPI_Comm result,
                                       MPI_Request copied) {
  auto made = std::make_unique<Duplication>(parent, result, copied, agree_on_context(parent));
  made->comm = comm;
  return made;
}

}  // namespace isthmus::face
