#include "mpi/coll/outline.hpp"

#include <algorithm>
#include <array>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/reduction.hpp"

namespace isthmus::face {
namespace {

bool is_predefined_op(MPI_Op op) {
  const std::array known{MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                         MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return std::find(known.begin(), known.end(), op) != known.end();
}

std::vector<Outline::Edge> read_edges(core::Reader& in, std::uint32_t number) {
  std::vector<Outline::Edge> edges;
  for (std::uint32_t i = 0; i < number && in.good(); ++i) {
    const auto rank = static_cast<int>(in.u32());
    edges.push_back({rank, static_cast<std::size_t>(in.u64())});
  }
  return edges;
}

void write_edges(core::Writer& out, const std::vector<Outline::Edge>& edges, int reader) {
  const auto concerns = [reader](const Outline::Edge& edge) { return edge.rank == reader; };
  out.u32(static_cast<std::uint32_t>(std::count_if(edges.begin(), edges.end(), concerns)));
  for (const Outline::Edge& edge : edges) {
    if (!concerns(edge)) continue;
    out.u32(static_cast<std::uint32_t>(edge.rank));
    out.u64(edge.bytes);
  }
}

}  // namespace

std::vector<Outline::Edge> Outline::edges(const coll::Sizes& sizes, int first) {
  std::vector<Edge> edges;
  edges.reserve(sizes.size());
  for (const std::size_t size : sizes) edges.push_back({first++, size});
  return edges;
}

void Outline::set_sizes(const coll::Sizes& all) {
  even = std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
  if (even) {
    count = all.empty() ? 0 : all.front();
  } else {
    sizes = all;
  }
}

Outline::Element element_of(const FaceReduction& reduction) {
  return {.bytes = static_cast<std::uint32_t>(reduction.packed_size(1)),
          .predefined = is_predefined_op(reduction.op()) && is_predefined(reduction.type()),
          .commutes = reduction.commutative()};
}

bool depends_on(const Outline& mine, int me, int other) {
  using Kind = Outline::Kind;
  const auto comes = [&] {
    return std::any_of(mine.in.begin(), mine.in.end(), [other](const Outline::Edge& edge) {
      return edge.rank == other && edge.bytes > 0;
    });
  };
  switch (mine.kind) {
    case Kind::Barrier:
      return false;
    case Kind::Bcast:
    case Kind::Scatter:
      return mine.root == other;
    case Kind::Gather:
    case Kind::Reduce:
      return mine.root == me;
    case Kind::Scan:
    case Kind::Exscan:
      return other < me;
    case Kind::Neighbors:
      return comes();
    case Kind::Alltoall:
      return mine.even ? mine.count > 0 : comes();
    case Kind::Allgather:
    case Kind::Allreduce:
    case Kind::ReduceScatter:
      return other >= mine.first_giver && other < mine.end_of_givers;
  }
  return true;
}

void write_outline(core::Writer& out, const Outline& outline, int reader) {
  out.u8(static_cast<std::uint8_t>(outline.kind));
  out.u8(outline.even ? 1 : 0);
  out.u32(static_cast<std::uint32_t>(outline.root));
  out.u64(outline.count);
  out.u32(outline.element.bytes);
  out.u8(outline.element.predefined ? 1 : 0);
  out.u8(outline.element.commutes ? 1 : 0);
  out.u32(static_cast<std::uint32_t>(outline.sizes.size()));
  for (const std::size_t size : outline.sizes) out.u64(size);
  write_edges(out, outline.out, reader);
  write_edges(out, outline.in, reader);
}

Outline read_outline(core::Reader& in) {
  Outline outline;
  outline.kind = static_cast<Outline::Kind>(in.u8());
  outline.even = in.u8() != 0;
  outline.root = static_cast<int>(in.u32());
  outline.count = in.u64();
  outline.element.bytes = in.u32();
  outline.element.predefined = in.u8() != 0;
  outline.element.commutes = in.u8() != 0;
  const std::uint32_t sizes = in.u32();
  for (std::uint32_t i = 0; i < sizes && in.good(); ++i) {
    outline.sizes.push_back(static_cast<std::size_t>(in.u64()));
  }
  outline.out = read_edges(in, in.u32());
  outline.in = read_edges(in, in.u32());
  return outline;
}

}  // namespace isthmus::face
