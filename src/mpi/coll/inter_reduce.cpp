// Reductions over intercommunicators.
#include <algorithm>
#include <memory>

#include "mpi/coll/inter_collective.hpp"
#include "mpi/coll/inter_forms.hpp"
#include "mpi/datatype/op_types.hpp"
#include "mpi/datatype/reduction.hpp"

namespace isthmus::face::inter_forms {
namespace {

using coll::Bytes;
using coll::ConstBytes;
using coll::Party;
using coll::TwoSides;

std::unique_ptr<FaceReduction> reduction_of(const Call& call, MPI_Datatype type, MPI_Op op) {
  check_type(*call.comm, type);
  check_op(op, type);
  return std::make_unique<FaceReduction>(op, type, !call.blocking(), *call.comm);
}

Outline outline_of(Outline outline, MPI_Count count, const FaceReduction& reduction) {
  outline.count = static_cast<std::uint64_t>(count);
  outline.element = element_of(reduction);
  return outline;
}

}  // namespace

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
           int root, const Call& call) {
  const int among = root_among_both(*call.comm, root);
  if (among == coll::kNoPart) return launch_without_part(call, Outline::Kind::Reduce);
  const bool at_root = root == MPI_ROOT;
  check_given(*call.comm, at_root ? recvbuf : sendbuf, count, type);
  auto reduction = reduction_of(call, type, op);
  OutBlocks given;
  InBlocks result;
  if (at_root) {
    result = InBlocks(*call.comm, one_block(recvbuf, count, type), !call.blocking());
  } else {
    given = OutBlocks(*call.comm, one_block(sendbuf, count, type));
  }
  Outline outline = outline_of({.kind = Outline::Kind::Reduce, .root = among}, count, *reduction);
  return launch_inter(
      call, std::move(given), std::move(result), std::move(outline),
      [among, elements = static_cast<std::size_t>(count), reduction = std::move(reduction)](
          Party& party, TwoSides sides, ConstBytes out, Bytes in) {
        return coll::inter_reduce(party, sides, out, in, elements, *reduction, among);
      });
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
              const Call& call) {
  check_given(*call.comm, sendbuf, count, type);
  check_not_in_place(recvbuf);
  auto reduction = reduction_of(call, type, op);
  Outline outline = outline_of(across(Outline::Kind::Allreduce, *call.comm), count, *reduction);
  return launch_inter(
      call, OutBlocks(*call.comm, one_block(sendbuf, count, type)),
      InBlocks(*call.comm, one_block(recvbuf, count, type), !call.blocking()), std::move(outline),
      [elements = static_cast<std::size_t>(count), reduction = std::move(reduction)](
          Party& party, TwoSides sides, ConstBytes out, Bytes in) {
        return coll::inter_allreduce(party, sides, out, in, elements, *reduction);
      });
}

int reduce_scatter(const void* sendbuf, void* recvbuf, std::vector<std::size_t> counts,
                   MPI_Datatype type, MPI_Op op, const Call& call) {
  MPI_Count all = 0;
  for (const std::size_t count : counts) all += static_cast<MPI_Count>(count);
  check_given(*call.comm, sendbuf, all, type);
  check_not_in_place(recvbuf);
  auto reduction = reduction_of(call, type, op);
  const auto own = static_cast<MPI_Count>(counts[static_cast<std::size_t>(call.comm->rank)]);
  Outline outline = outline_of(across(Outline::Kind::ReduceScatter, *call.comm), 0, *reduction);
  outline.sizes.resize(static_cast<std::size_t>(call.comm->inter->whole->size));
  std::copy(counts.begin(), counts.end(), outline.sizes.begin() + call.comm->inter->here);
  return launch_inter(
      call, OutBlocks(*call.comm, one_block(sendbuf, all, type)),
      InBlocks(*call.comm, one_block(recvbuf, own, type), !call.blocking()), std::move(outline),
      [counts = std::move(counts), reduction = std::move(reduction)](Party& party, TwoSides sides,
                                                                     ConstBytes out, Bytes in) {
        return coll::inter_reduce_scatter(party, sides, out, in, counts, *reduction);
      });
}

}  // namespace isthmus::face::inter_forms
