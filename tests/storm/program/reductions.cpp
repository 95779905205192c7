// Reductions and scans, of predefined operations and of the program's own that do not commute.

#include "forms.hpp"
#include "kinds.hpp"

namespace storm {

namespace {

// x -> a x + b of whole numbers modulo 2^32: composing is associative, and does not commute.
struct Affine {
  std::uint32_t a, b;
};

Affine composed(Affine first, Affine second) {
  return {second.a * first.a, second.a * first.b + second.b};
}

void compose(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* left = static_cast<Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = composed(left[i], right[i]);
}

void add_pairs(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* left = static_cast<Affine*>(in);
  auto* right = static_cast<Affine*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = {left[i].a + right[i].a, left[i].b + right[i].b};
}

// Elements are two 32-bit words; what an operation makes of two is computed here as well.
struct Operation {
  const char* name;
  MPI_Op op;
  MPI_Datatype type;
  int words;  ///< of the datatype: 1 or 2
  Affine (*of)(Affine, Affine);
};

Affine sum(Affine x, Affine y) { return {x.a + y.a, x.b + y.b}; }
Affine exclusive_or(Affine x, Affine y) { return {x.a ^ y.a, x.b ^ y.b}; }
std::uint32_t greater(std::uint32_t x, std::uint32_t y) {  // as signed numbers: see draw_operation
  return static_cast<std::int32_t>(x) > static_cast<std::int32_t>(y) ? x : y;
}
Affine greatest(Affine x, Affine y) { return {greater(x.a, y.a), greater(x.b, y.b)}; }
Affine sum_of_64(Affine x, Affine y) {
  const auto whole = [](Affine z) { return z.a | std::uint64_t{z.b} << 32; };
  const std::uint64_t made = whole(x) + whole(y);
  return {static_cast<std::uint32_t>(made), static_cast<std::uint32_t>(made >> 32)};
}

MPI_Datatype pair_type() {
  static const MPI_Datatype made = [] {
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    return type;
  }();
  return made;
}

MPI_Op made_op(MPI_User_function* function, int commutes) {
  MPI_Op op;
  MPI_Op_create(function, commutes, &op);
  return op;
}

Operation draw_operation(Step& step) {
  static const MPI_Op composing = made_op(compose, 0), adding = made_op(add_pairs, 1);
  switch (step.random.below(6)) {
    case 0:
      return {"MPI_SUM", MPI_SUM, MPI_UINT32_T, 1, sum};
    case 1:
      return {"MPI_BXOR", MPI_BXOR, MPI_UINT32_T, 1, exclusive_or};
    // MPICH 4.0 compares unsigned numbers as signed ones (2026-11).
    case 2:
      return {"MPI_MAX", MPI_MAX, MPI_INT32_T, 1, greatest};
    case 3:
      return {"MPI_SUM of 64 bits", MPI_SUM, MPI_UINT64_T, 2, sum_of_64};
    case 4:
      return {"an operation that commutes", adding, pair_type(), 2, sum};
    default:
      return {"an operation that does not commute", composing, pair_type(), 2, composed};
  }
}

struct Reduction {
  Step step;  // a copy: checks may come later
  Operation operation;
  int which;
  std::size_t pairs;

  [[nodiscard]] int count(std::size_t of) const {
    return static_cast<int>(of) * (operation.words == 1 ? 2 : 1);
  }
  [[nodiscard]] std::uint64_t key(int rank) const { return step.key(rank, which); }
  [[nodiscard]] Affine contribution(int rank, std::size_t i) const {
    const std::uint64_t word = mixed(key(rank) + i);  // as fill() has it
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  /// The result of ranks `first` to `last` at place i.
  [[nodiscard]] Affine result(int first, int last, std::size_t i) const {
    Affine made = contribution(first, i);
    for (int rank = first + 1; rank <= last; ++rank) {
      made = operation.of(made, contribution(rank, i));
    }
    return made;
  }
  void expect(const Affine* got, std::size_t at, std::size_t number, int first, int last,
              const char* what) const {
    for (std::size_t i = 0; i < number; ++i) {
      const Affine should = result(first, last, at + i);
      if (got[i].a != should.a || got[i].b != should.b) {
        step.wrong(text("%s by %s of %zu elements: element %zu is %x %x, should be %x %x", what,
                        operation.name, number, i, got[i].a, got[i].b, should.a, should.b));
      }
    }
  }
};

void play_one(Step& step, UnderWay& operations, int which) {
  enum { kReduce, kAllreduce, kScan, kExscan, kBlock, kScatter, kVariants };
  const int variant = step.random.below(kVariants);
  const Form form = draw_form(step);
  const int root = step.random.below(step.size);
  const bool in_place = step.random.chance(30);
  const Operation operation = draw_operation(step);
  // Each rank has a part of a reduce-scatter.
  std::vector<int> parts;
  std::size_t pairs = step.draw_size(std::size_t{600} << 10) / 8, before = 0;
  if (variant == kBlock)
    pairs = pairs / static_cast<std::size_t>(step.size) * static_cast<std::size_t>(step.size);
  if (variant == kBlock || variant == kScatter) {
    auto left = static_cast<int>(pairs);
    for (int i = 0; i < step.size; ++i) {
      const bool last = i == step.size - 1;
      const int part = variant == kBlock ? static_cast<int>(pairs) / step.size
                       : last            ? left
                                         : step.random.below(left + 1);
      left -= part;
      parts.push_back(part);
      if (i < step.rank) before += static_cast<std::size_t>(part);
    }
  }
  const Reduction r{step, operation, which, pairs};
  const Bytes mine(pairs * 8), got(pairs * 8);
  const bool to_me = variant != kReduce || step.rank == root;
  const bool replaced = in_place && to_me;
  const auto prepare = [=] {
    got.spoil();
    fill((replaced ? got : mine).all(), r.key(r.step.rank));
  };
  const auto counts = std::make_shared<std::vector<int>>();
  for (const int part : parts) counts->push_back(r.count(static_cast<std::size_t>(part)));
  const auto done = [=] {
    if (!replaced)
      r.step.expect(mine.all(), r.key(r.step.rank), "the reduction's own summand", r.step.rank);
    const auto* values = got.as<Affine>();
    const int last = r.step.size - 1;
    if (variant == kReduce && to_me) r.expect(values, 0, pairs, 0, last, "a reduce");
    if (variant == kAllreduce) r.expect(values, 0, pairs, 0, last, "an allreduce");
    if (variant == kScan) r.expect(values, 0, pairs, 0, r.step.rank, "a scan");
    if (variant == kExscan && r.step.rank > 0) {
      r.expect(values, 0, pairs, 0, r.step.rank - 1, "an exscan");
    }
    if (variant == kBlock || variant == kScatter) {
      r.expect(values, before,
               static_cast<std::size_t>(parts[static_cast<std::size_t>(r.step.rank)]), 0, last,
               "a reduce-scatter");
    }
    (void)counts;
    mine.spoil();
    got.spoil();
  };
  Collective collective{step, form, operations, prepare, done};
  const void* from = replaced ? MPI_IN_PLACE : mine.data();
  const int count = r.count(pairs);
  const MPI_Datatype type = operation.type;
  const MPI_Op op = operation.op;
  if (variant == kReduce) {
    STORM_CALL(collective, Reduce, Ireduce, from, got.data(), count, type, op, root, step.comm);
  } else if (variant == kAllreduce) {
    STORM_CALL(collective, Allreduce, Iallreduce, from, got.data(), count, type, op, step.comm);
  } else if (variant == kScan) {
    STORM_CALL(collective, Scan, Iscan, from, got.data(), count, type, op, step.comm);
  } else if (variant == kExscan) {
    STORM_CALL(collective, Exscan, Iexscan, from, got.data(), count, type, op, step.comm);
  } else if (variant == kBlock) {
    STORM_CALL(collective, Reduce_scatter_block, Ireduce_scatter_block, from, got.data(),
               (*counts)[0], type, op, step.comm);
  } else {
    STORM_CALL(collective, Reduce_scatter, Ireduce_scatter, from, got.data(), counts->data(), type,
               op, step.comm);
  }
}

}  // namespace

void reductions(Step& step) {
  UnderWay operations;
  const int count = step.random.between(1, 5);
  for (int i = 0; i < count; ++i) play_one(step, operations, i);
  step.complete(operations);
}

}  // namespace storm
