// Neighbourhood collectives in all forms on topologies of every kind.
#include "blocks.hpp"
#include "edges.hpp"
#include "forms.hpp"
#include "kinds.hpp"
#include "typed_memory.hpp"

namespace storm {

namespace {

constexpr std::size_t kMost = std::size_t{100} << 10;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Drawn {
  Step step;  // a copy: checks may come later
  Edges edges;
  int which;
  Form form;
  UnderWay& operations;

  [[nodiscard]] std::uint64_t key(int rank, int block) const {
    return step.key(rank * 1000 + block, which, 5);
  }
  /// Draws the size of a block of a rank.
  [[nodiscard]] int size(int rank, int block) const {
    Step drawing = step;
    drawing.random = step.drawn_for(rank * 1000 + block, which, 6);
    return static_cast<int>(drawing.draw_size(kMost));
  }
  [[nodiscard]] int source(int block) const { return edges.in()[at(block)]; }
  [[nodiscard]] bool nothing(int block) const { return source(block) == MPI_PROC_NULL; }
  [[nodiscard]] int in() const { return static_cast<int>(edges.in().size()); }
  [[nodiscard]] int out() const { return static_cast<int>(edges.out().size()); }
  [[nodiscard]] Collective collective(Step& of, std::function<void()> prepare,
                                      std::function<void()> done) const {
    return {of, form, operations, std::move(prepare), std::move(done)};
  }
};

constexpr std::uint64_t kBefore = 0xbef0;  // the key of what a block had

// Every rank's one block goes to all its destinations.
void allgathers(Step& of, const Drawn& d, bool different) {
  const auto size = [=](int rank) { return d.size(different ? rank : 0, 0); };
  std::vector<int> counts;
  for (int i = 0; i < d.in(); ++i) counts.push_back(d.nothing(i) ? 3 : size(d.source(i)));
  if (!different) counts.assign(at(d.in()), size(0));
  const Blocks got(counts, different, d.step.random);
  const Bytes sent(at(size(d.edges.rank)));
  const auto prepare = [=] {
    for (int i = 0; i < got.size(); ++i) fill(got.block(i), kBefore);
    fill(sent.all(), d.key(d.edges.rank, 0));
  };
  const auto done = [=] {
    sent.spoil();
    for (int i = 0; i < got.size(); ++i) {
      const std::uint64_t key = d.nothing(i) ? kBefore : d.key(d.source(i), 0);
      d.step.expect(got.block(i), key, "a neighbour's block", d.source(i));
    }
  };
  auto collective = d.collective(of, prepare, done);
  if (different) {
    STORM_CALL(collective, Neighbor_allgatherv, Ineighbor_allgatherv, sent.data(), sent.count(),
               MPI_BYTE, got.data(), got.counts(), got.places(), MPI_BYTE, d.edges.comm);
  } else {
    STORM_CALL(collective, Neighbor_allgather, Ineighbor_allgather, sent.data(), sent.count(),
               MPI_BYTE, got.data(), sent.count(), MPI_BYTE, d.edges.comm);
  }
}

void alltoalls(Step& of, const Drawn& d, bool different) {
  const auto size = [=](int rank, int block) {
    return different ? d.size(rank, block) : d.size(0, 0);
  };
  std::vector<int> out, in;
  for (int i = 0; i < d.out(); ++i) out.push_back(size(d.edges.rank, i));
  for (int i = 0; i < d.in(); ++i) {
    in.push_back(d.nothing(i) ? size(0, 0) : size(d.source(i), d.edges.arrival(i)));
  }
  const Blocks sent(out, different, d.step.random.branch(1)),
      got(in, different, d.step.random.branch(2));
  const auto prepare = [=] {
    for (int i = 0; i < got.size(); ++i) fill(got.block(i), kBefore);
    for (int i = 0; i < sent.size(); ++i) fill(sent.block(i), d.key(d.edges.rank, i));
  };
  const auto done = [=] {
    sent.spoil();
    for (int i = 0; i < got.size(); ++i) {
      const std::uint64_t key = d.nothing(i) ? kBefore : d.key(d.source(i), d.edges.arrival(i));
      d.step.expect(got.block(i), key, "a neighbour's block", d.source(i));
    }
  };
  auto collective = d.collective(of, prepare, done);
  if (different) {
    STORM_CALL(collective, Neighbor_alltoallv, Ineighbor_alltoallv, sent.data(), sent.counts(),
               sent.places(), MPI_BYTE, got.data(), got.counts(), got.places(), MPI_BYTE,
               d.edges.comm);
  } else {
    const int count = size(0, 0);
    STORM_CALL(collective, Neighbor_alltoall, Ineighbor_alltoall, sent.data(), count, MPI_BYTE,
               got.data(), count, MPI_BYTE, d.edges.comm);
  }
}

// Each block has a datatype of its own on each side.
void alltoallw(Step& of, const Drawn& d) {
  const auto signature = [=](int rank, int block) {
    Random random = d.step.drawn_for(rank * 1000 + block, d.which, 7);
    return draw_signature(random, at(d.size(rank, block)));
  };
  struct Lists {
    std::vector<int> counts;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
  };
  const auto make = [&](int blocks, int salt, Lists& lists, const auto& signature_of) {
    std::vector<Counted> all;
    for (int i = 0; i < blocks; ++i) {
      all.push_back({draw_layout(of.own, signature_of(i), 1), 1});
    }
    const TypedMemory memory = placed(of.own, all, d.step.key(d.edges.rank, d.which, -salt));
    for (std::size_t i = 0; i < at(blocks); ++i) {
      lists.counts.push_back(1);
      lists.places.push_back(memory.block(i).at);
      lists.types.push_back(memory.type(i));
    }
    return memory;
  };
  const auto out = std::make_shared<Lists>(), in = std::make_shared<Lists>();
  const TypedMemory sent =
      make(d.out(), 1, *out, [&](int i) { return signature(d.edges.rank, i); });
  const TypedMemory got = make(d.in(), 2, *in, [&](int i) {
    return d.nothing(i) ? signature(0, 0) : signature(d.source(i), d.edges.arrival(i));
  });
  const auto prepare = [=] {
    got.reset();
    for (int i = 0; i < d.out(); ++i) sent.fill(d.key(d.edges.rank, i), at(i));
  };
  const auto done = [=] {
    (void)out;
    (void)in;
    sent.spoil();
    std::vector<TypedMemory::Expected> expected;
    for (int i = 0; i < d.in(); ++i) {
      if (d.nothing(i)) continue;
      expected.push_back(
          {at(i), d.key(d.source(i), d.edges.arrival(i)), got.block(at(i)).bytes(), d.source(i)});
    }
    got.expect(d.step, expected, "a neighbour's block");
  };
  auto collective = d.collective(of, prepare, done);
  STORM_CALL(collective, Neighbor_alltoallw, Ineighbor_alltoallw, sent.address(),
             out->counts.data(), out->places.data(), out->types.data(), got.address(),
             in->counts.data(), in->places.data(), in->types.data(), d.edges.comm);
}

}  // namespace

void topologies(Step& step) {
  Edges edges = make_edges(step);
  const int count = step.random.between(1, 5);
  const bool early = step.random.chance(30);
  if (edges.comm == MPI_COMM_NULL) return;
  const Party party(edges.comm, 0, false);
  // Open MPI, and MPICH before 5.0, take one of two edges between the same ranks for the other.
  const bool confused = options.grid && !party.spans && edges.doubled();
  UnderWay operations;
  for (int i = 0; i < count && !confused; ++i) {
    const int kind = step.random.below(5);
    const Form form = draw_form(step);
    // Within one cluster it is native: see draw_form.
    const bool native = form == Form::kPersistent && !party.spans;
    const Drawn d{step, edges, i, native ? Form::kNonblocking : form, operations};
    Step drawing = step;
    step.random.next();
    if (kind < 2) allgathers(drawing, d, kind == 1);
    if (kind == 2 || kind == 3) alltoalls(drawing, d, kind == 3);
    if (kind == 4) alltoallw(drawing, d);
  }
  if (!early) operations.complete(step.own);
  MPI_Comm_free(&edges.comm);
  operations.complete(step.own);
}

}  // namespace storm
