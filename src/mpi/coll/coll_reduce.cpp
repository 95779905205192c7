// MPI-4.1 sections 6.9 to 6.11: reductions and scans.
#include <memory>

#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/coll_checks.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/coll/inter_forms.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/datatype/op_types.hpp"
#include "mpi/datatype/reduction.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Shared by the reductions: `count` elements in, some elements out.
class Reducing : public Collective {
 public:
  Reducing(const Call& call, const void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
           Copy copy)
      : Collective(call.comm, call.function),
        reduction_(op, type, !call.blocking(), *call.comm),
        count_(static_cast<std::size_t>(count)),
        in_(*call.comm, one_block(in, count, type), copy) {}
  /// Sets the place of the results; without it this rank gets none.
  void set_results(const Call& call, void* buffer, MPI_Count count, MPI_Datatype type) {
    out_ = InBlocks(*call.comm, one_block(buffer, count, type), !call.blocking());
    has_results_ = true;
  }

 protected:
  void finish() override {
    if (has_results_) out_.finish();
  }
  Outline outline_of(Outline::Kind kind, int root = -1) const {
    return {.kind = kind, .root = root, .count = count_, .element = element_of(reduction_)};
  }

  FaceReduction reduction_;
  std::size_t count_;
  OutBlocks in_;
  InBlocks out_;

 private:
  bool has_results_ = false;
};

class Reduce final : public Reducing {
 public:
  template <class... Arguments>
  explicit Reduce(int root, Arguments&&... arguments)
      : Reducing(std::forward<Arguments>(arguments)...), root_(root) {}

 private:
  coll::Task start(coll::Party& party) override {
    return coll::reduce(party, in_.bytes(), out_.bytes(), count_, reduction_, root_);
  }
  std::optional<Outline> outline() const override {
    return outline_of(Outline::Kind::Reduce, root_);
  }
  int root_;
};

/// Without a root: every member's results have as many elements as its operands.
template <auto kRun, Outline::Kind kKind>
class Rootless final : public Reducing {
 public:
  using Reducing::Reducing;

 private:
  coll::Task start(coll::Party& party) override {
    return kRun(party, in_.bytes(), out_.bytes(), count_, reduction_);
  }
  std::optional<Outline> outline() const override { return outline_of(kKind); }
};
using Allreduce = Rootless<coll::allreduce, Outline::Kind::Allreduce>;
using Scan = Rootless<coll::scan, Outline::Kind::Scan>;
using Exscan = Rootless<coll::exscan, Outline::Kind::Exscan>;

class ReduceScatter final : public Reducing {
 public:
  template <class... Arguments>
  explicit ReduceScatter(std::vector<std::size_t> counts, Arguments&&... arguments)
      : Reducing(std::forward<Arguments>(arguments)...), counts_(std::move(counts)) {}

 private:
  coll::Task start(coll::Party& party) override {
    return coll::reduce_scatter(party, in_.bytes(), out_.bytes(), counts_, reduction_);
  }
  std::optional<Outline> outline() const override {
    Outline outline = outline_of(Outline::Kind::ReduceScatter);
    outline.set_sizes(counts_);
    return outline;
  }
  std::vector<std::size_t> counts_;
};

/// The elements' address, and whether they must be copied because results overwrite them.
struct Operands {
  const void* buffer;
  Copy copy;
  Operands(const void* sendbuf, const void* recvbuf)
      : buffer(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf),
        copy(sendbuf == MPI_IN_PLACE || sendbuf == recvbuf ? Copy::Always : Copy::IfNeeded) {}
};

/// Allreduce and Scan.
template <class Work>
int reduce_to_all(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  const Call& call) {
  check_data(*call.comm, count, type);
  check_op(op, type);
  check_not_in_place(recvbuf);
  if (count > 0) check_not_one(sendbuf, recvbuf);
  const Operands in(sendbuf, recvbuf);
  auto work = std::make_unique<Work>(call, in.buffer, count, type, op, in.copy);
  work->set_results(call, recvbuf, count, type);
  return launch(std::move(work), call);
}

int reduce_scatter(const void* sendbuf, void* recvbuf, std::vector<std::size_t> counts,
                   MPI_Datatype type, MPI_Op op, const Call& call) {
  if (call.comm->inter) {
    return inter_forms::reduce_scatter(sendbuf, recvbuf, std::move(counts), type, op, call);
  }
  check_type(*call.comm, type);
  check_op(op, type);
  check_not_in_place(recvbuf);
  const auto own = static_cast<MPI_Count>(counts[static_cast<std::size_t>(call.comm->rank)]);
  MPI_Count all = 0;
  for (const std::size_t count : counts) all += static_cast<MPI_Count>(count);
  if (all > 0) check_not_one(sendbuf, recvbuf);
  const Operands in(sendbuf, recvbuf);
  auto work =
      std::make_unique<ReduceScatter>(std::move(counts), call, in.buffer, all, type, op, in.copy);
  work->set_results(call, recvbuf, own, type);
  return launch(std::move(work), call);
}

}  // namespace

namespace forms {

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
           int root, const Call& call) {
  return collectively(call, [&] {
    if (call.comm->inter) {
      return inter_forms::reduce(sendbuf, recvbuf, count, type, op, root, call);
    }
    check_root(*call.comm, root);
    check_data(*call.comm, count, type);
    check_op(op, type);
    const bool at_root = call.comm->rank == root;
    if (at_root) {
      check_not_in_place(recvbuf);
      if (count > 0) check_not_one(sendbuf, recvbuf);
    } else {
      require(sendbuf != MPI_IN_PLACE, MPI_ERR_BUFFER, "MPI_IN_PLACE is allowed at the root only");
    }
    const Operands in(sendbuf, recvbuf);
    auto work = std::make_unique<Reduce>(root, call, in.buffer, count, type, op, in.copy);
    if (at_root) work->set_results(call, recvbuf, count, type);
    return launch(std::move(work), call);
  });
}

int exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
           const Call& call) {
  return collectively(call, [&] {
    require_intracomm(*call.comm);
    check_data(*call.comm, count, type);
    check_op(op, type);
    check_not_in_place(recvbuf);
    if (count > 0) check_not_one(sendbuf, recvbuf);
    const Operands in(sendbuf, recvbuf);
    auto work = std::make_unique<Exscan>(call, in.buffer, count, type, op, in.copy);
    // Rank 0's memory stays as it is.
    if (call.comm->rank != 0) work->set_results(call, recvbuf, count, type);
    return launch(std::move(work), call);
  });
}

template <class Count>
int reduce_scatter_placed(const void* sendbuf, void* recvbuf, const Count* counts,
                          MPI_Datatype type, MPI_Op op, const Call& call) {
  return collectively(call, [&] {
    const int ranks = own_group(*call.comm).size();
    check_counts(ranks, counts);
    return reduce_scatter(sendbuf, recvbuf, {counts, counts + ranks}, type, op, call);
  });
}

int reduce_scatter_even(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                        MPI_Op op, const Call& call) {
  return collectively(call, [&] {
    check_data(*call.comm, count, type);
    const std::vector<std::size_t> counts(static_cast<std::size_t>(own_group(*call.comm).size()),
                                          static_cast<std::size_t>(count));
    return reduce_scatter(sendbuf, recvbuf, counts, type, op, call);
  });
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
              const Call& call) {
  return collectively(call, [&] {
    if (call.comm->inter) {
      return inter_forms::allreduce(sendbuf, recvbuf, count, type, op, call);
    }
    return reduce_to_all<Allreduce>(sendbuf, recvbuf, count, type, op, call);
  });
}

int scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
         const Call& call) {
  return collectively(call, [&] {
    require_intracomm(*call.comm);
    return reduce_to_all<Scan>(sendbuf, recvbuf, count, type, op, call);
  });
}

template decltype(reduce_scatter_placed<int>) reduce_scatter_placed<int>;
#if ISTHMUS_LARGE_COUNT
template decltype(reduce_scatter_placed<MPI_Count>) reduce_scatter_placed<MPI_Count>;
#endif

}  // namespace forms
}  // namespace isthmus::face
