// MPI-4.1 sections 6.3 and 6.4: barrier and broadcast.
#include <algorithm>
#include <memory>

#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/coll_checks.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/coll/inter_forms.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Whether the library takes any datatype in calls without data; Open MPI does not.
#ifdef OPEN_MPI
constexpr bool kTakesNothing = false;
#else
constexpr bool kTakesNothing = true;
#endif

class Barrier final : public Collective {
 public:
  explicit Barrier(const Call& call) : Collective(call.comm, call.function) {}

 private:
  coll::Task start(coll::Party& party) override { return coll::barrier(party); }
};

class Bcast final : public Collective {
 public:
  Bcast(const Call& call, void* buffer, MPI_Count count, MPI_Datatype type, int root)
      : Collective(call.comm, call.function), root_(root) {
    if (call.comm->rank == root) {
      source_ = OutBlocks(*call.comm, one_block(buffer, count, type));
    } else {
      data_ = InBlocks(*call.comm, one_block(buffer, count, type), !call.blocking());
    }
  }

 private:
  coll::Task start(coll::Party& party) override {
    if (party.rank() != root_) return coll::bcast(party, data_.bytes(), root_);
    // The root's memory is only read.
    const auto source = source_.bytes();
    const coll::Bytes data(const_cast<std::byte*>(source.data()), source.size());
    return coll::bcast(party, data, root_);
  }
  void finish() override { data_.finish(); }
  std::optional<Outline> outline() const override {
    return Outline{.kind = Outline::Kind::Bcast,
                   .root = root_,
                   .count = std::max(source_.bytes().size(), data_.bytes().size())};
  }

  int root_;
  OutBlocks source_;
  InBlocks data_;
};

}  // namespace

namespace forms {

int barrier(const Call& call) {
  return collectively(call, [&] {
    if (call.comm->inter) return inter_forms::barrier(call);
    return launch(std::make_unique<Barrier>(call), call);
  });
}

int bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, const Call& call) {
  return collectively(call, [&] {
    if (call.comm->inter) return inter_forms::bcast(buffer, count, type, root, call);
    check_root(*call.comm, root);
    if (count != 0 || !kTakesNothing) check_data(*call.comm, count, type);
    check_not_in_place(buffer);
    return launch(std::make_unique<Bcast>(call, buffer, count, type, root), call);
  });
}

}  // namespace forms
}  // namespace isthmus::face
