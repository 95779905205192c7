// Collectives that move data, in all their forms, with each other under way.
#include <algorithm>

#include "blocks.hpp"
#include "forms.hpp"
#include "kinds.hpp"

namespace storm {

namespace {

constexpr std::size_t kMost = std::size_t{600} << 10;

struct Drawn {
  Step& step;
  UnderWay& operations;
  int which;  // of the step's collectives
  Form form;
  int root;
  bool in_place;

  [[nodiscard]] Collective collective(std::function<void()> prepare,
                                      std::function<void()> done) const {
    return {step, form, operations, std::move(prepare), std::move(done)};
  }
  /// Returns a function for the keys of data from a rank to another. It may outlive the step.
  [[nodiscard]] auto keys() const {
    return [step = step, which = which](int from, int to = 0) { return step.key(from, to, which); };
  }
};

void barrier(const Drawn& d) {
  auto collective = d.collective([] {}, [] {});
  STORM_CALL(collective, Barrier, Ibarrier, d.step.comm);
}

void bcast(const Drawn& d) {
  Step step = d.step;
  const Bytes bytes(d.step.draw_size());
  const bool mine = step.rank == d.root;
  const std::uint64_t key = d.keys()(d.root);
  auto collective = d.collective([=] { mine ? fill(bytes.all(), key) : bytes.spoil(); },
                                 [=, root = d.root] {
                                   step.expect(bytes.all(), key, "a broadcast", root);
                                   bytes.spoil();
                                 });
  STORM_CALL(collective, Bcast, Ibcast, bytes.data(), bytes.count(), MPI_BYTE, d.root, step.comm);
}

// Each rank's block goes to the root, or, `all`, to everybody.
void gathers(const Drawn& d, bool all, bool different) {
  Step step = d.step;
  const auto key = d.keys();
  const std::vector<int> counts = draw_counts(d.step, step.size, different, kMost / 4);
  const Blocks got(counts, different, step.random);
  const Bytes sent(static_cast<std::size_t>(counts[static_cast<std::size_t>(step.rank)]));
  const bool receives = all || step.rank == d.root, in_place = d.in_place && receives;
  const auto prepare = [=] {
    got.spoil();
    fill(sent.all(), key(step.rank));
    if (in_place) fill(got.block(step.rank), key(step.rank));
  };
  const auto done = [=] {
    sent.spoil();
    for (int i = 0; receives && i < step.size; ++i) {
      step.expect(got.block(i), key(i), all ? "an allgather" : "a gather", i);
    }
    got.spoil();
  };
  auto collective = d.collective(prepare, done);
  const void* from = in_place ? MPI_IN_PLACE : sent.data();
  const int count = counts[0];
  if (all && different) {
    STORM_CALL(collective, Allgatherv, Iallgatherv, from, sent.count(), MPI_BYTE, got.data(),
               got.counts(), got.places(), MPI_BYTE, step.comm);
  } else if (all) {
    STORM_CALL(collective, Allgather, Iallgather, from, count, MPI_BYTE, got.data(), count,
               MPI_BYTE, step.comm);
  } else if (different) {
    STORM_CALL(collective, Gatherv, Igatherv, from, sent.count(), MPI_BYTE, got.data(),
               got.counts(), got.places(), MPI_BYTE, d.root, step.comm);
  } else {
    STORM_CALL(collective, Gather, Igather, from, count, MPI_BYTE, got.data(), count, MPI_BYTE,
               d.root, step.comm);
  }
}

void scatters(const Drawn& d, bool different) {
  const int root = d.root;
  Step step = d.step;
  const auto key = d.keys();
  const std::vector<int> counts = draw_counts(d.step, step.size, different, kMost / 4);
  const Blocks sent(counts, different, step.random);
  const Bytes got(static_cast<std::size_t>(counts[static_cast<std::size_t>(step.rank)]));
  const bool sends = step.rank == d.root, in_place = d.in_place && sends;
  const auto prepare = [=] {
    got.spoil();
    for (int i = 0; sends && i < step.size; ++i) fill(sent.block(i), key(root, i));
  };
  const auto done = [=] {
    step.expect(in_place ? sent.block(step.rank) : got.all(), key(root, step.rank), "a scatter",
                root);
    sent.spoil();
    got.spoil();
  };
  auto collective = d.collective(prepare, done);
  void* to = in_place ? MPI_IN_PLACE : got.data();
  if (different) {
    STORM_CALL(collective, Scatterv, Iscatterv, sent.data(), sent.counts(), sent.places(), MPI_BYTE,
               to, got.count(), MPI_BYTE, d.root, step.comm);
  } else {
    STORM_CALL(collective, Scatter, Iscatter, sent.data(), counts[0], MPI_BYTE, to, counts[0],
               MPI_BYTE, d.root, step.comm);
  }
}

enum class Alltoall { kSame, kCounts, kTypes };

void alltoalls(const Drawn& d, Alltoall variant) {
  Step step = d.step;
  const auto key = d.keys();
  const bool different = variant != Alltoall::kSame, in_place = d.in_place;
  std::vector<std::vector<int>> counts;  // by source
  for (int i = 0; i < step.size; ++i) {
    const auto drawn = draw_counts(d.step, step.size, different, kMost / 8);
    counts.push_back(different || i == 0 ? drawn : counts[0]);
  }
  const auto mine = static_cast<std::size_t>(step.rank);
  std::vector<int> received;
  for (int i = 0; i < step.size; ++i) {
    // MPI_IN_PLACE needs data from a rank to be as long as the data to it.
    if (in_place && different)
      counts[mine][static_cast<std::size_t>(i)] =
          counts[std::min<std::size_t>(mine, static_cast<std::size_t>(i))]
                [std::max<std::size_t>(mine, static_cast<std::size_t>(i))];
    received.push_back(in_place && different ? counts[mine][static_cast<std::size_t>(i)]
                                             : counts[static_cast<std::size_t>(i)][mine]);
  }
  const Blocks sent(counts[mine], different, step.random.branch(1)),
      got(received, different, step.random.branch(2));
  const auto prepare = [=] {
    got.spoil();
    for (int i = 0; i < step.size; ++i) {
      fill((in_place ? got : sent).block(i), key(step.rank, i));
    }
  };
  const auto done = [=] {
    for (int i = 0; i < step.size; ++i) {
      step.expect(got.block(i), key(i, step.rank), "an alltoall", i);
    }
    sent.spoil();
    got.spoil();
  };
  auto collective = d.collective(prepare, done);
  const void* from = in_place ? MPI_IN_PLACE : sent.data();
  if (variant == Alltoall::kSame) {
    STORM_CALL(collective, Alltoall, Ialltoall, from, counts[0][0], MPI_BYTE, got.data(),
               counts[0][0], MPI_BYTE, step.comm);
  } else if (variant == Alltoall::kCounts) {
    STORM_CALL(collective, Alltoallv, Ialltoallv, from, sent.counts(), sent.places(), MPI_BYTE,
               got.data(), got.counts(), got.places(), MPI_BYTE, step.comm);
  } else {
    STORM_CALL(collective, Alltoallw, Ialltoallw, from, sent.counts(), sent.places(), sent.types(),
               got.data(), got.counts(), got.places(), got.types(), step.comm);
  }
}

void play_one(const Drawn& d) {
  switch (d.step.random.below(11)) {
    case 0:
      return barrier(d);
    case 1:
      return bcast(d);
    case 2:
      return gathers(d, false, false);
    case 3:
      return gathers(d, false, true);
    case 4:
      return gathers(d, true, false);
    case 5:
      return gathers(d, true, true);
    case 6:
      return scatters(d, false);
    case 7:
      return scatters(d, true);
    case 8:
      return alltoalls(d, Alltoall::kSame);
    case 9:
      return alltoalls(d, Alltoall::kCounts);
    default:
      return alltoalls(d, Alltoall::kTypes);
  }
}

}  // namespace

void collectives(Step& step) {
  UnderWay operations;
  const int count = step.random.between(1, 6);
  for (int i = 0; i < count; ++i) {
    const Form form = draw_form(step);
    const int root = step.random.below(step.size);
    const bool in_place = step.random.chance(30);
    play_one({step, operations, i, form, root, in_place});
    if (step.own.chance(10)) step.dawdle();
  }
  step.complete(operations);
}

}  // namespace storm
