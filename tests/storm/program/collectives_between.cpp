// Collectives of intercommunicators: one side's data comes to the other.
#include "blocks.hpp"
#include "forms.hpp"
#include "intercommunicators.hpp"

namespace storm {

namespace {

struct Drawn {
  Step step;  // a copy: checks may come later
  Sides sides;
  int which;
  Form form;
  int root_side, root;
  std::size_t most;
  UnderWay& operations;

  [[nodiscard]] bool from_me() const {
    return sides.side == root_side && sides.mine()[static_cast<std::size_t>(root)] == step.rank;
  }
  /// This process passes it as the root.
  [[nodiscard]] int given_root() const {
    if (sides.side != root_side) return root;
    return from_me() ? MPI_ROOT : MPI_PROC_NULL;
  }
  /// The root as a rank of the step.
  [[nodiscard]] int root_rank() const {
    return sides.members[root_side][static_cast<std::size_t>(root)];
  }
  /// Processes of the root's side but for the root take no part.
  [[nodiscard]] bool idle() const { return sides.side == root_side && !from_me(); }
  [[nodiscard]] std::uint64_t key(int from, int to) const {
    return step.key(from * 1000 + to, which, 3);
  }
  [[nodiscard]] int size(int from, int to) const {
    return static_cast<int>(size_between(step, from * 1000 + to, which, 0, most));
  }
  [[nodiscard]] int other(int i) const { return sides.theirs()[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Collective collective(Step& of, std::function<void()> prepare,
                                      std::function<void()> done) const {
    return {of, form, operations, std::move(prepare), std::move(done)};
  }
};

void bcast(Step& of, const Drawn& d) {
  const Bytes bytes(static_cast<std::size_t>(d.size(d.root_rank(), 0)));
  const std::uint64_t key = d.key(d.root_rank(), 0);
  const bool mine = d.from_me(), idle = d.idle();
  auto collective = d.collective(
      of, [=] { mine ? fill(bytes.all(), key) : bytes.spoil(); },
      [=, step = d.step, root = d.root_rank()] {
        if (!idle) step.expect(bytes.all(), key, "a broadcast between sides", root);
        bytes.spoil();
      });
  const int root = d.given_root();
  STORM_CALL(collective, Bcast, Ibcast, bytes.data(), bytes.count(), MPI_BYTE, root, d.sides.inter);
}

// All of the other side send to the root, or to everybody.
void gathers(Step& of, const Drawn& d, bool all, bool different) {
  const bool receives = all || d.from_me(), sends = all || d.sides.side != d.root_side;
  const auto size = [=](int rank) { return d.size(different ? rank : 0, all ? 1 : 2); };
  // Each side may have its own size in an allgather with equal blocks; here both have one.
  std::vector<int> counts;
  for (const int rank : d.sides.theirs()) counts.push_back(size(rank));
  const Blocks got(counts, different, d.step.random);
  const Bytes sent(static_cast<std::size_t>(size(d.step.rank)));
  const auto prepare = [=] {
    got.spoil();
    fill(sent.all(), d.key(d.step.rank, 0));
  };
  const auto done = [=] {
    sent.spoil();
    for (int i = 0; receives && i < got.size(); ++i) {
      d.step.expect(got.block(i), d.key(d.other(i), 0), "a gather between sides", d.other(i));
    }
  };
  (void)sends;
  auto collective = d.collective(of, prepare, done);
  const int count = counts[0], root = d.given_root();
  if (all && different) {
    STORM_CALL(collective, Allgatherv, Iallgatherv, sent.data(), sent.count(), MPI_BYTE, got.data(),
               got.counts(), got.places(), MPI_BYTE, d.sides.inter);
  } else if (all) {
    STORM_CALL(collective, Allgather, Iallgather, sent.data(), sent.count(), MPI_BYTE, got.data(),
               count, MPI_BYTE, d.sides.inter);
  } else if (different) {
    STORM_CALL(collective, Gatherv, Igatherv, sent.data(), sent.count(), MPI_BYTE, got.data(),
               got.counts(), got.places(), MPI_BYTE, root, d.sides.inter);
  } else {
    STORM_CALL(collective, Gather, Igather, sent.data(), sent.count(), MPI_BYTE, got.data(), count,
               MPI_BYTE, root, d.sides.inter);
  }
}

void scatters(Step& of, const Drawn& d, bool different) {
  const int from = d.root_rank();
  const auto size = [=](int rank) { return d.size(from, different ? rank : 0); };
  std::vector<int> counts;
  for (const int rank : d.sides.theirs()) counts.push_back(size(rank));
  const Blocks sent(counts, different, d.step.random);
  const Bytes got(static_cast<std::size_t>(size(d.step.rank)));
  const bool mine = d.from_me(), receives = d.sides.side != d.root_side;
  const auto prepare = [=] {
    got.spoil();
    for (int i = 0; mine && i < sent.size(); ++i) fill(sent.block(i), d.key(from, d.other(i)));
  };
  const auto done = [=] {
    sent.spoil();
    if (receives) {
      d.step.expect(got.all(), d.key(from, d.step.rank), "a scatter between sides", from);
    }
  };
  auto collective = d.collective(of, prepare, done);
  const int root = d.given_root();
  if (different) {
    STORM_CALL(collective, Scatterv, Iscatterv, sent.data(), sent.counts(), sent.places(), MPI_BYTE,
               got.data(), got.count(), MPI_BYTE, root, d.sides.inter);
  } else {
    STORM_CALL(collective, Scatter, Iscatter, sent.data(), counts[0], MPI_BYTE, got.data(),
               got.count(), MPI_BYTE, root, d.sides.inter);
  }
}

enum class Alltoall { kSame, kCounts, kTypes };

void alltoalls(Step& of, const Drawn& d, Alltoall variant) {
  const bool same = variant == Alltoall::kSame;
  std::vector<int> out, in;
  for (const int rank : d.sides.theirs()) {
    out.push_back(same ? d.size(0, 0) : d.size(d.step.rank, rank));
    in.push_back(same ? d.size(0, 0) : d.size(rank, d.step.rank));
  }
  const Blocks sent(out, !same, d.step.random.branch(1)), got(in, !same, d.step.random.branch(2));
  const auto prepare = [=] {
    got.spoil();
    for (int i = 0; i < sent.size(); ++i) fill(sent.block(i), d.key(d.step.rank, d.other(i)));
  };
  const auto done = [=] {
    sent.spoil();
    for (int i = 0; i < got.size(); ++i) {
      d.step.expect(got.block(i), d.key(d.other(i), d.step.rank), "an alltoall between sides",
                    d.other(i));
    }
  };
  auto collective = d.collective(of, prepare, done);
  if (same) {
    STORM_CALL(collective, Alltoall, Ialltoall, sent.data(), out[0], MPI_BYTE, got.data(), in[0],
               MPI_BYTE, d.sides.inter);
  } else if (variant == Alltoall::kCounts) {
    STORM_CALL(collective, Alltoallv, Ialltoallv, sent.data(), sent.counts(), sent.places(),
               MPI_BYTE, got.data(), got.counts(), got.places(), MPI_BYTE, d.sides.inter);
  } else {
    STORM_CALL(collective, Alltoallw, Ialltoallw, sent.data(), sent.counts(), sent.places(),
               sent.types(), got.data(), got.counts(), got.places(), got.types(), d.sides.inter);
  }
}

enum class Reduction { kRoot, kAll, kBlock, kParts };

void reductions(Step& of, const Drawn& d, Reduction variant) {
  const bool parts = variant == Reduction::kBlock || variant == Reduction::kParts;
  // Parts of this side add up to the same number of words on both sides.
  const auto sizes = d.sides.members[0].size() * d.sides.members[1].size();
  auto words = static_cast<std::size_t>(d.size(0, 5)) / 4;
  if (parts) words = words / sizes * sizes;
  const auto counts = std::make_shared<std::vector<int>>();
  std::size_t before = 0, own = words;
  if (parts) {
    std::size_t left = words, at = 0;
    for (const int rank : d.sides.mine()) {
      const bool last = rank == d.sides.mine().back();
      const std::size_t equal = words / d.sides.mine().size();
      const std::size_t some = static_cast<std::size_t>(d.size(rank, 6)) % (left + 1);
      const std::size_t part = variant == Reduction::kBlock ? equal : last ? left : some;
      counts->push_back(static_cast<int>(part));
      if (rank == d.step.rank) before = at, own = part;
      at += part;
      left -= part;
    }
  }
  const Bytes mine(words * 4), got(own * 4);
  const bool receives = variant != Reduction::kRoot || d.from_me();
  const auto prepare = [=] {
    got.spoil();
    fill(mine.all(), d.key(d.step.rank, 0));
  };
  const auto done = [=] {
    (void)counts;
    mine.spoil();
    if (!receives) return;
    std::vector<std::uint32_t> sum(words);
    for (const int rank : d.sides.theirs()) {
      const Bytes theirs(words * 4, d.key(rank, 0));
      for (std::size_t i = 0; i < words; ++i) sum[i] += theirs.as<std::uint32_t>()[i];
    }
    for (std::size_t i = 0; i < own; ++i) {
      if (got.as<std::uint32_t>()[i] == sum[before + i]) continue;
      d.step.wrong(text("a reduction between sides: word %zu of %zu is %x, should be %x", i, own,
                        got.as<std::uint32_t>()[i], sum[before + i]));
    }
  };
  auto collective = d.collective(of, prepare, done);
  const int count = static_cast<int>(words), root = d.given_root();
  if (variant == Reduction::kRoot) {
    STORM_CALL(collective, Reduce, Ireduce, mine.data(), got.data(), count, MPI_UINT32_T, MPI_SUM,
               root, d.sides.inter);
  } else if (variant == Reduction::kAll) {
    STORM_CALL(collective, Allreduce, Iallreduce, mine.data(), got.data(), count, MPI_UINT32_T,
               MPI_SUM, d.sides.inter);
  } else if (variant == Reduction::kBlock) {
    STORM_CALL(collective, Reduce_scatter_block, Ireduce_scatter_block, mine.data(), got.data(),
               (*counts)[0], MPI_UINT32_T, MPI_SUM, d.sides.inter);
  } else {
    STORM_CALL(collective, Reduce_scatter, Ireduce_scatter, mine.data(), got.data(), counts->data(),
               MPI_UINT32_T, MPI_SUM, d.sides.inter);
  }
}

void barrier(Step& of, const Drawn& d) {
  auto collective = d.collective(
      of, [] {}, [] {});
  STORM_CALL(collective, Barrier, Ibarrier, d.sides.inter);
}

}  // namespace

void collective_between(Step& step, const Sides& sides, int which, std::size_t most,
                        UnderWay& operations) {
  const int kind = step.random.below(15);
  const Form form = draw_form(step);
  const int root_side = step.random.below(2), drawn_root = step.random.below(1000);
  // A persistent collective draws how often it starts, on all ranks.
  Step drawing = step;
  step.random.next();
  if (sides.inter == MPI_COMM_NULL) return;
  int root = drawn_root % static_cast<int>(sides.members[root_side].size());
  // MPICH (4.0 to 5.0) delivers nothing of MPI_Ibcast from other roots (2026-11).
  if (kind == 0 && form != Form::kBlocking && !step.party.spans) root = 0;
  const Drawn d{step, sides, which, form, root_side, root, most, operations};
  switch (kind) {
    case 0:
      return bcast(drawing, d);
    case 1:
    case 2:
      return gathers(drawing, d, false, kind == 2);
    case 3:
    case 4:
      return gathers(drawing, d, true, kind == 4);
    case 5:
    case 6:
      return scatters(drawing, d, kind == 6);
    case 7:
      return alltoalls(drawing, d, Alltoall::kSame);
    case 8:
      return alltoalls(drawing, d, Alltoall::kCounts);
    case 9:
      return alltoalls(drawing, d, Alltoall::kTypes);
    case 10:
      return reductions(drawing, d, Reduction::kRoot);
    case 11:
      return reductions(drawing, d, Reduction::kAll);
    case 12:
      return reductions(drawing, d, Reduction::kBlock);
    case 13:
      return reductions(drawing, d, Reduction::kParts);
    default:
      return barrier(drawing, d);
  }
}

}  // namespace storm
