// Collectives that move data, in all their forms, with each other under way: bytes, or elements
// that each rank lays out in its own way.
#include "blocks.hpp"
#include "forms.hpp"
#include "kinds.hpp"
#include "typed_memory.hpp"

namespace storm {

namespace {

constexpr std::size_t kMostBytes = std::size_t{600} << 10;
constexpr std::size_t kMostTyped = std::size_t{128} << 10;

const Layout& bytes() {
  static const Layout one({MPI_BYTE, true, {{0, 1}}, "MPI_BYTE"});
  return one;
}

struct Drawn {
  Step& step;
  UnderWay& operations;
  int which;  // of the step's collectives
  Form form;
  int root;
  bool in_place;
  const Signature* signature;  // of one element; null: bytes

  [[nodiscard]] Collective collective(std::function<void()> prepare,
                                      std::function<void()> done) const {
    return {step, form, operations, std::move(prepare), std::move(done)};
  }
  [[nodiscard]] auto keys() const {
    return [step = step, which = which](int from, int to = 0) { return step.key(from, to, which); };
  }
  [[nodiscard]] std::uint64_t salt(int of) const { return step.key(step.rank, which, -1 - of); }
  /// Elements of each rank; if they are bytes, fewer than a part of the most.
  [[nodiscard]] std::vector<int> counts(bool different, std::size_t part) const {
    if (signature == nullptr) return draw_counts(step, step.size, different, kMostBytes / part);
    std::vector<int> drawn;
    for (int i = 0; i < step.size; ++i) {
      const int count = step.random.chance(15) ? 0 : step.random.between(1, 5);
      drawn.push_back(different || i == 0 ? count : drawn[0]);
    }
    return drawn;
  }
  [[nodiscard]] Layout element() const {
    return signature == nullptr ? bytes() : draw_layout(step.own, *signature, 1);
  }
  [[nodiscard]] Counted counted(int count) const {
    if (count == 0 || signature == nullptr) return {element(), count};
    return draw_counted(step.own, *signature, count);
  }
  /// Non-blocking and persistent calls keep the datatypes that they need.
  void free_early(const TypedMemory& memory) const {
    if (form == Form::kNonblocking && step.own.chance(50)) memory.block().layout.free_early();
  }
};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void barrier(const Drawn& d) {
  auto collective = d.collective([] {}, [] {});
  STORM_CALL(collective, Barrier, Ibarrier, d.step.comm);
}

void bcast(const Drawn& d) {
  Step step = d.step;
  const bool typed = d.signature != nullptr;
  const int count = typed ? d.step.random.below(6) : static_cast<int>(d.step.draw_size());
  const TypedMemory memory(d.counted(count), d.salt(0));
  const std::uint64_t key = d.keys()(d.root);
  const bool mine = step.rank == d.root;
  const auto prepare = [=] {
    memory.reset();
    if (mine) memory.fill(key);
  };
  const auto done = [=, root = d.root] {
    memory.expect(step, key, "a broadcast", root);
    memory.spoil();
  };
  auto collective = d.collective(prepare, done);
  STORM_CALL(collective, Bcast, Ibcast, memory.address(), memory.count(), memory.type(), d.root,
             step.comm);
  d.free_early(memory);
}

struct Lists {
  Places places;
  std::vector<int> displacements;  // in bytes
  std::vector<MPI_Datatype> types;
};

void gathers(const Drawn& d, bool all, bool different) {
  Step step = d.step;
  const auto key = d.keys();
  const std::vector<int> counts = d.counts(different, 4);
  const bool receives = all || step.rank == d.root, in_place = d.in_place && receives;
  const auto lists = std::make_shared<Lists>();
  lists->places = draw_places(step.own, counts, different);
  const TypedMemory got = placed(d.element(), lists->places, d.salt(0));
  const TypedMemory sent(d.counted(counts[at(step.rank)]), d.salt(1));
  const auto prepare = [=] {
    got.reset();
    sent.fill(key(step.rank));
    if (in_place) got.fill(key(step.rank), at(step.rank));
  };
  const auto done = [=] {
    (void)lists;
    sent.spoil();
    std::vector<TypedMemory::Expected> expected;
    for (int i = 0; receives && i < step.size; ++i) {
      expected.push_back({at(i), key(i), got.block(at(i)).bytes(), i});
    }
    got.expect(step, expected, all ? "an allgather" : "a gather");
    got.spoil();
  };
  auto collective = d.collective(prepare, done);
  const void* from = in_place ? MPI_IN_PLACE : sent.address();
  const int* places = lists->places.places.data();
  const int* received = lists->places.counts.data();
  const int count = counts[0];
  if (all && different) {
    STORM_CALL(collective, Allgatherv, Iallgatherv, from, sent.count(), sent.type(), got.address(),
               received, places, got.type(), step.comm);
  } else if (all) {
    STORM_CALL(collective, Allgather, Iallgather, from, sent.count(), sent.type(), got.address(),
               count, got.type(), step.comm);
  } else if (different) {
    STORM_CALL(collective, Gatherv, Igatherv, from, sent.count(), sent.type(), got.address(),
               received, places, got.type(), d.root, step.comm);
  } else {
    STORM_CALL(collective, Gather, Igather, from, sent.count(), sent.type(), got.address(), count,
               got.type(), d.root, step.comm);
  }
  d.free_early(got);
  d.free_early(sent);
}

void scatters(const Drawn& d, bool different) {
  const int root = d.root;
  Step step = d.step;
  const auto key = d.keys();
  const std::vector<int> counts = d.counts(different, 4);
  const bool sends = step.rank == root, in_place = d.in_place && sends;
  const auto lists = std::make_shared<Lists>();
  lists->places = draw_places(step.own, counts, different);
  const TypedMemory sent = placed(d.element(), lists->places, d.salt(0));
  const TypedMemory got(d.counted(counts[at(step.rank)]), d.salt(1));
  const auto prepare = [=] {
    got.reset();
    for (int i = 0; sends && i < step.size; ++i) sent.fill(key(root, i), at(i));
  };
  const auto done = [=] {
    (void)lists;
    std::vector<TypedMemory::Expected> kept;
    for (int i = 0; sends && i < step.size; ++i) {
      kept.push_back({at(i), key(root, i), sent.block(at(i)).bytes(), root});
    }
    if (sends) sent.expect(step, kept, "the source of a scatter");
    if (in_place) {
      got.expect_untouched(step, "a scatter in place");
    } else {
      got.expect(step, key(root, step.rank), "a scatter", root);
    }
    sent.spoil();
    got.spoil();
  };
  auto collective = d.collective(prepare, done);
  void* to = in_place ? MPI_IN_PLACE : got.address();
  if (different) {
    STORM_CALL(collective, Scatterv, Iscatterv, sent.address(), lists->places.counts.data(),
               lists->places.places.data(), sent.type(), to, got.count(), got.type(), root,
               step.comm);
  } else {
    STORM_CALL(collective, Scatter, Iscatter, sent.address(), counts[0], sent.type(), to,
               got.count(), got.type(), root, step.comm);
  }
  d.free_early(got);
  d.free_early(sent);
}

enum class Alltoall { kSame, kCounts, kTypes };

void alltoalls(const Drawn& d, Alltoall variant) {
  Step step = d.step;
  const auto key = d.keys();
  const bool different = variant != Alltoall::kSame, w = variant == Alltoall::kTypes;
  const bool in_place = d.in_place && (!different || d.signature == nullptr);
  std::vector<std::vector<int>> all;  // by source
  for (int i = 0; i < step.size; ++i) {
    const auto drawn = d.counts(different, 8);
    all.push_back(different || i == 0 ? drawn : all[0]);
    // MPI_IN_PLACE needs data from a rank to be as long as the data to it.
    for (int j = 0; in_place && j < i; ++j) all[at(i)][at(j)] = all[at(j)][at(i)];
  }
  std::vector<int> sends = all[at(step.rank)], receives;
  for (const auto& from : all) receives.push_back(from[at(step.rank)]);

  const auto made = [&](const std::vector<int>& counts, Lists& lists, int salt) {
    if (!w) {
      lists.places = draw_places(step.own, counts, variant == Alltoall::kCounts);
      return placed(d.element(), lists.places, d.salt(salt));
    }
    std::vector<Counted> blocks;
    for (const int count : counts) blocks.push_back(d.counted(count));
    const TypedMemory memory = placed(step.own, blocks, d.salt(salt));
    for (std::size_t i = 0; i < counts.size(); ++i) {
      lists.places.counts.push_back(memory.count(i));
      lists.displacements.push_back(static_cast<int>(memory.block(i).at));
      lists.types.push_back(memory.type(i));
    }
    return memory;
  };
  const auto out = std::make_shared<Lists>(), in = std::make_shared<Lists>();
  const TypedMemory sent = made(sends, *out, 0), got = made(receives, *in, 1);
  const auto prepare = [=] {
    got.reset();
    for (int i = 0; i < step.size; ++i) (in_place ? got : sent).fill(key(step.rank, i), at(i));
  };
  const auto done = [=] {
    (void)out;
    std::vector<TypedMemory::Expected> expected;
    for (int i = 0; i < step.size; ++i) {
      expected.push_back({at(i), key(i, step.rank), got.block(at(i)).bytes(), i});
    }
    got.expect(step, expected, "an alltoall");
    (void)in;
    sent.spoil();
    got.spoil();
  };
  auto collective = d.collective(prepare, done);
  const void* from = in_place ? MPI_IN_PLACE : sent.address();
  const int *out_counts = out->places.counts.data(), *in_counts = in->places.counts.data();
  if (variant == Alltoall::kSame) {
    STORM_CALL(collective, Alltoall, Ialltoall, from, sends[0], sent.type(), got.address(),
               receives[0], got.type(), step.comm);
  } else if (variant == Alltoall::kCounts) {
    STORM_CALL(collective, Alltoallv, Ialltoallv, from, out_counts, out->places.places.data(),
               sent.type(), got.address(), in_counts, in->places.places.data(), got.type(),
               step.comm);
  } else {
    STORM_CALL(collective, Alltoallw, Ialltoallw, from, out_counts, out->displacements.data(),
               out->types.data(), got.address(), in_counts, in->displacements.data(),
               in->types.data(), step.comm);
  }
  d.free_early(got);
  d.free_early(sent);
}

void play_one(const Drawn& d) {
  switch (d.step.random.below(11)) {
    case 0:
      return bcast(d);
    case 1:
      return gathers(d, false, false);
    case 2:
      return gathers(d, false, true);
    case 3:
      return gathers(d, true, false);
    case 4:
      return gathers(d, true, true);
    case 5:
      return scatters(d, false);
    case 6:
      return scatters(d, true);
    case 7:
      return alltoalls(d, Alltoall::kSame);
    case 8:
      return alltoalls(d, Alltoall::kCounts);
    case 9:
      return alltoalls(d, Alltoall::kTypes);
    default:
      return barrier(d);
  }
}

void play_many(Step& step, int most, bool typed) {
  UnderWay operations;
  const int count = step.random.between(1, most);
  for (int i = 0; i < count; ++i) {
    const Form form = draw_form(step);
    const int root = step.random.below(step.size);
    const bool in_place = step.random.chance(30);
    Signature signature;
    if (typed) signature = draw_signature(step.random, step.draw_size(kMostTyped / at(step.size)));
    play_one({step, operations, i, form, root, in_place, typed ? &signature : nullptr});
    if (step.own.chance(10)) step.dawdle();
  }
  step.complete(operations);
}

}  // namespace

void collectives(Step& step) { play_many(step, 6, false); }
void typed_collectives(Step& step) { play_many(step, 4, true); }

}  // namespace storm
