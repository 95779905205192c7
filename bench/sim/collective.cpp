#include "sim/collective.hpp"

#include "coll/engine/buffer.hpp"
#include "coll/engine/collectives.hpp"

namespace isthmus::sim {
namespace {

using coll::Bytes;
using coll::Kind;
using coll::Sizes;
using coll::Task;

/// Sums of 8 bytes, or of 1 if the size is not a multiple of 8. They cost time.
class Sums final : public coll::Reduction {
 public:
  Sums(SimulatedParty& party, std::size_t size) : party_(party), unit_(size % 8 == 0 ? 8 : 1) {}
  bool commutative() const override { return true; }
  std::size_t packed_size(std::size_t count) const override { return count * unit_; }
  void combine(coll::ConstBytes, Bytes, std::size_t count) override {
    constexpr double kOfByte = 1e-9;  // as in the estimates (coll/engine/cost.cpp)
    party_.compute(static_cast<double>(packed_size(count)) * kOfByte);
  }

 private:
  SimulatedParty& party_;
  std::size_t unit_;
};

Bytes memory(std::size_t size) { return {coll::phantom, size}; }

Task reduced(SimulatedParty& party, Kind kind, std::size_t size, int ranks) {
  Sums sums(party, size);
  const std::size_t count = size / sums.packed_size(1);
  const Bytes vector = memory(size);
  Task task;
  if (kind == Kind::Reduce) task = coll::reduce(party, vector, vector, count, sums, 0);
  if (kind == Kind::Allreduce) task = coll::allreduce(party, vector, vector, count, sums);
  if (kind == Kind::Scan) task = coll::scan(party, vector, vector, count, sums);
  if (kind == Kind::Exscan) task = coll::exscan(party, vector, vector, count, sums);
  if (kind == Kind::ReduceScatter) {
    const auto blocks = static_cast<std::size_t>(ranks);
    std::vector<std::size_t> counts(blocks, count);
    task = coll::reduce_scatter(party, memory(size * blocks), vector, std::move(counts), sums);
  }
  co_await task;
}

}  // namespace

coll::Problem problem_of(Kind kind, std::size_t size, int ranks) {
  const bool blocks = kind == Kind::Gather || kind == Kind::Scatter || kind == Kind::Allgather ||
                      kind == Kind::Alltoall || kind == Kind::ReduceScatter;
  return {kind, blocks ? size * static_cast<std::size_t>(ranks) : size, true};
}

std::function<Task(SimulatedParty&)> collective(Kind kind, std::size_t size, int ranks) {
  const Bytes one = memory(size), all = memory(size * static_cast<std::size_t>(ranks));
  const auto even = [=] { return Sizes(static_cast<std::size_t>(ranks), size); };
  switch (kind) {
    case Kind::Barrier:
      return [](SimulatedParty& party) { return coll::barrier(party); };
    case Kind::Bcast:
      return [=](SimulatedParty& party) { return coll::bcast(party, one, 0); };
    case Kind::Gather:
      return [=](SimulatedParty& party) {
        return coll::gather(party, one, all, even(), 0, coll::Blocks::Even);
      };
    case Kind::Scatter:
      return [=](SimulatedParty& party) {
        return coll::scatter(party, all, even(), one, 0, coll::Blocks::Even);
      };
    case Kind::Allgather:
      return [=](SimulatedParty& party) { return coll::allgather(party, one, all, even()); };
    case Kind::Alltoall:
      return [=](SimulatedParty& party) {
        return coll::alltoall(party, all, even(), all, even(), coll::Blocks::Even);
      };
    case Kind::Reduce:
    case Kind::Allreduce:
    case Kind::ReduceScatter:
    case Kind::Scan:
    case Kind::Exscan:
      return [=](SimulatedParty& party) { return reduced(party, kind, size, ranks); };
  }
  return {};
}

}  // namespace isthmus::sim
