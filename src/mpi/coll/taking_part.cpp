#include "mpi/coll/taking_part.hpp"

#include <algorithm>
#include <utility>

#include "coll/engine/portion.hpp"
#include "mpi/coll/inter_collective.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

const GridComm& members_of(const GridComm& comm) { return comm.inter ? *comm.inter->whole : comm; }

void combine_nothing(void*, void*, int*, MPI_Datatype*) {}

/// One that native libraries do in the same way as the others': they look at sizes, at whether it
/// commutes and at whether operation and datatype are predefined.
std::unique_ptr<FaceReduction> stand_in(const Outline::Element& element, const GridComm& comm) {
  struct Predefined {
    std::size_t bytes;
    MPI_Datatype type;
    MPI_Op op;
  };
  const Predefined all[] = {
      {sizeof(char), MPI_SIGNED_CHAR, MPI_BOR},
      {sizeof(short), MPI_SHORT, MPI_BOR},
      {sizeof(int), MPI_INT, MPI_BOR},
      {sizeof(long long), MPI_LONG_LONG, MPI_BOR},
      {2 * sizeof(double), MPI_C_DOUBLE_COMPLEX, MPI_SUM},
      {2 * sizeof(long double), MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM},
      {sizeof(short) + sizeof(int), MPI_SHORT_INT, MPI_MAXLOC},
      {sizeof(double) + sizeof(int), MPI_DOUBLE_INT, MPI_MAXLOC},
      {sizeof(long double) + sizeof(int), MPI_LONG_DOUBLE_INT, MPI_MAXLOC},
  };
  if (element.predefined && element.commutes) {
    for (const Predefined& one : all) {
      if (one.bytes == element.bytes) {
        return std::make_unique<FaceReduction>(one.op, one.type, true, comm);
      }
    }
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  require_success(native.Type_contiguous(static_cast<int>(element.bytes), MPI_BYTE, &type),
                  "MPI_Type_contiguous failed");
  require_success(native.Type_commit(&type), "MPI_Type_commit failed");
  require_success(native.Op_create(combine_nothing, element.commutes ? 1 : 0, &op),
                  "MPI_Op_create failed");
  auto made = std::make_unique<FaceReduction>(op, type, true, comm);
  isthmus_Op_free(&op);
  isthmus_Type_free(&type);
  return made;
}

}  // namespace

TakingPart::TakingPart(const GridComm& comm, const std::vector<std::optional<Outline>>& outlines)
    : me_(members_of(comm).rank), ranks_(members_of(comm).size) {
  if (comm.inter) sides_ = two_sides(comm);
  for (std::size_t r = 0; r < outlines.size(); ++r) {
    if (!outlines[r]) continue;
    const Outline& other = *outlines[r];
    common_.kind = other.kind;
    common_.even = common_.even || other.even;
    common_.root = std::max(common_.root, other.root);
    common_.count = std::max(common_.count, other.count);
    if (other.element.bytes > 0) common_.element = other.element;
    common_.sizes.resize(std::max(common_.sizes.size(), other.sizes.size()));
    for (std::size_t i = 0; i < other.sizes.size(); ++i) {
      common_.sizes[i] = std::max(common_.sizes[i], other.sizes[i]);
    }
    // The other member sends what this one receives.
    for (const auto& edge : other.out) common_.in.push_back({static_cast<int>(r), edge.bytes});
    for (const auto& edge : other.in) common_.out.push_back({static_cast<int>(r), edge.bytes});
  }
  if (common_.element.bytes > 0) reduction_ = stand_in(common_.element, comm);
}

coll::Bytes TakingPart::memory(std::size_t bytes) {
  memory_.push_back(std::make_unique<std::byte[]>(bytes));
  return {memory_.back().get(), bytes};
}

coll::Sizes TakingPart::all_sizes(int first, int ranks) const {
  if (common_.even) return coll::Sizes(static_cast<std::size_t>(ranks), common_.count);
  coll::Sizes sizes(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t rank = static_cast<std::size_t>(first) + i;
    if (rank < common_.sizes.size()) sizes[i] = common_.sizes[rank];
  }
  return sizes;
}

coll::Sizes TakingPart::by_rank(const std::vector<Outline::Edge>& edges, int first, int ranks) {
  coll::Sizes sizes(static_cast<std::size_t>(ranks));
  for (const Outline::Edge& edge : edges) {
    const int place = edge.rank - first;
    if (place >= 0 && place < ranks) sizes[static_cast<std::size_t>(place)] = edge.bytes;
  }
  return sizes;
}

coll::Task TakingPart::start(coll::Party& party) {
  if (common_.kind == Outline::Kind::Barrier) return coll::barrier(party);
  return sides_ ? start_between_sides(party) : start_among_one_side(party);
}

coll::Task TakingPart::start_neighbors(coll::Party& party) {
  std::vector<coll::OutEdge> out;
  std::vector<coll::InEdge> in;
  out.reserve(common_.out.size());
  in.reserve(common_.in.size());
  for (const auto& edge : common_.out) out.push_back({edge.rank, memory(edge.bytes)});
  for (const auto& edge : common_.in) in.push_back({edge.rank, memory(edge.bytes)});
  return coll::neighbors(party, std::move(out), std::move(in));
}

coll::Task TakingPart::start_among_one_side(coll::Party& party) {
  const auto blocks = common_.even ? coll::Blocks::Even : coll::Blocks::Uneven;
  const auto count = static_cast<std::size_t>(common_.count);
  const auto me = static_cast<std::size_t>(me_);
  const int root = common_.root;
  const std::size_t vector = reduction_ ? reduction_->packed_size(count) : 0;
  switch (common_.kind) {
    case Outline::Kind::Barrier:
      return coll::barrier(party);
    case Outline::Kind::Bcast:
      return coll::bcast(party, memory(count), root);
    case Outline::Kind::Gather:
    case Outline::Kind::Scatter: {
      const bool gathers = common_.kind == Outline::Kind::Gather;
      const auto& edges = (me_ == root) == gathers ? common_.in : common_.out;
      coll::Sizes sizes = common_.even ? all_sizes(0, ranks_) : by_rank(edges, 0, ranks_);
      const std::size_t own = common_.even ? count : sizes[static_cast<std::size_t>(root)];
      const coll::Bytes mine = memory(me_ == root ? sizes[me] : own);
      const coll::Bytes all = memory(me_ == root ? coll::total(sizes) : 0);
      if (!knows_sizes()) sizes.clear();
      if (gathers) return coll::gather(party, mine, all, std::move(sizes), root, blocks);
      return coll::scatter(party, all, std::move(sizes), mine, root, blocks);
    }
    case Outline::Kind::Allgather: {
      coll::Sizes sizes = all_sizes(0, ranks_);
      const coll::Bytes mine = memory(sizes[me]), all = memory(coll::total(sizes));
      return coll::allgather(party, mine, all, std::move(sizes));
    }
    case Outline::Kind::Alltoall: {
      coll::Sizes out = common_.even ? all_sizes(0, ranks_) : by_rank(common_.out, 0, ranks_);
      coll::Sizes in = common_.even ? all_sizes(0, ranks_) : by_rank(common_.in, 0, ranks_);
      const coll::Bytes given = memory(coll::total(out)), got = memory(coll::total(in));
      return coll::alltoall(party, given, std::move(out), got, std::move(in), blocks);
    }
    case Outline::Kind::Reduce:
      return coll::reduce(party, memory(vector), memory(me_ == root ? vector : 0), count,
                          *reduction_, root);
    case Outline::Kind::Allreduce:
      return coll::allreduce(party, memory(vector), memory(vector), count, *reduction_);
    case Outline::Kind::ReduceScatter: {
      coll::Sizes counts = all_sizes(0, ranks_);
      const coll::Bytes given = memory(reduction_->packed_size(coll::total(counts)));
      const coll::Bytes got = memory(reduction_->packed_size(counts[me]));
      return coll::reduce_scatter(party, given, got, std::move(counts), *reduction_);
    }
    case Outline::Kind::Scan:
      return coll::scan(party, memory(vector), memory(vector), count, *reduction_);
    case Outline::Kind::Exscan:
      return coll::exscan(party, memory(vector), memory(me_ == 0 ? 0 : vector), count, *reduction_);
    case Outline::Kind::Neighbors:
      return start_neighbors(party);
  }
  return {};
}

coll::Task TakingPart::start_between_sides(coll::Party& party) {
  const coll::TwoSides sides = *sides_;
  const int here = sides.side_of(me_), there = 1 - here;
  const int first = sides.begin_of(there), ranks = sides.size_of(there);
  const auto count = static_cast<std::size_t>(common_.count);
  const std::size_t vector = reduction_ ? reduction_->packed_size(count) : 0;
  int root = common_.root;
  if (root >= 0 && root != me_ && sides.side_of(root) == here) root = coll::kNoPart;
  switch (common_.kind) {
    case Outline::Kind::Bcast:
      return coll::inter_bcast(party, sides, memory(count), root);
    case Outline::Kind::Gather:
    case Outline::Kind::Scatter: {
      if (root < 0) return {};
      const bool gathers = common_.kind == Outline::Kind::Gather;
      const int away = 1 - sides.side_of(root);
      const auto& edges = (me_ == root) == gathers ? common_.in : common_.out;
      coll::Sizes sizes;
      if (common_.even) {
        sizes.assign(static_cast<std::size_t>(sides.size_of(away)), count);
      } else if (me_ == root) {
        sizes = by_rank(edges, first, ranks);
      }
      const std::size_t own =
          common_.even ? count : coll::total(by_rank(edges, root, me_ == root ? 0 : 1));
      const coll::Bytes mine = memory(me_ == root ? 0 : own);
      const coll::Bytes all = memory(me_ == root ? coll::total(sizes) : 0);
      if (gathers) return coll::inter_gather(party, sides, mine, all, std::move(sizes), root);
      return coll::inter_scatter(party, sides, all, std::move(sizes), mine, root);
    }
    case Outline::Kind::Allgather: {
      coll::Sizes sizes = all_sizes(first, ranks);
      const coll::Bytes mine = memory(all_sizes(me_, 1)[0]), all = memory(coll::total(sizes));
      return coll::inter_allgather(party, sides, mine, all, std::move(sizes));
    }
    case Outline::Kind::Alltoall: {
      coll::Sizes out = by_rank(common_.out, first, ranks), in = by_rank(common_.in, first, ranks);
      const coll::Bytes given = memory(coll::total(out)), got = memory(coll::total(in));
      return coll::inter_alltoall(party, sides, given, std::move(out), got, std::move(in));
    }
    case Outline::Kind::Reduce: {
      if (root < 0) return {};
      const coll::Bytes given = memory(me_ == root ? 0 : vector),
                        got = memory(me_ == root ? vector : 0);
      return coll::inter_reduce(party, sides, given, got, count, *reduction_, root);
    }
    case Outline::Kind::Allreduce:
      return coll::inter_allreduce(party, sides, memory(vector), memory(vector), count,
                                   *reduction_);
    case Outline::Kind::ReduceScatter: {
      coll::Sizes counts = all_sizes(sides.begin_of(here), sides.size_of(here));
      // If all members of this side are wrong, their first one takes everything.
      if (coll::total(counts) == 0) counts[0] = coll::total(all_sizes(first, ranks));
      const coll::Bytes given = memory(reduction_->packed_size(coll::total(counts)));
      const auto own = static_cast<std::size_t>(me_ - sides.begin_of(here));
      const coll::Bytes got = memory(reduction_->packed_size(counts[own]));
      return coll::inter_reduce_scatter(party, sides, given, got, std::move(counts), *reduction_);
    }
    case Outline::Kind::Barrier:
    case Outline::Kind::Scan:
    case Outline::Kind::Exscan:
    case Outline::Kind::Neighbors:
      break;
  }
  return {};
}

}  // namespace isthmus::face
