// Receives from any source, with any tag or one: those of a source match in the order of the sends.
#include <algorithm>

#include "kinds.hpp"

namespace storm {

namespace {

constexpr std::size_t kMost = std::size_t{128} << 10;

struct Plan {
  std::vector<int> senders;  ///< 1 for each rank that sends, to all
  std::vector<std::size_t> sizes;
  bool any_tag = false;

  [[nodiscard]] int tag(const Step& step, std::size_t which) const {
    return step.tag(any_tag ? static_cast<int>(which % 10) : 0);
  }
};

Plan draw(Step& step) {
  Plan plan;
  plan.any_tag = step.random.chance(50);
  for (int i = 0; i < step.size; ++i) plan.senders.push_back(step.random.chance(70));
  const int each = step.random.between(1, step.random.chance(80) ? 6 : 60);
  for (int i = 0; i < each; ++i) plan.sizes.push_back(step.draw_size(kMost));
  return plan;
}

void send(Step& step, const Plan& plan, UnderWay& operations) {
  if (!plan.senders[static_cast<std::size_t>(step.rank)]) return;
  for (std::size_t which = 0; which < plan.sizes.size(); ++which) {
    for (int i = 0; i < step.size; ++i) {
      const int to = (step.rank + i) % step.size;
      const Bytes bytes(plan.sizes[which], step.key(step.rank, to, static_cast<int>(which)));
      MPI_Isend(bytes.data(), bytes.count(), MPI_BYTE, to, plan.tag(step, which), step.comm,
                operations.add([bytes](const MPI_Status&) { bytes.spoil(); }));
    }
  }
}

struct Received {
  Bytes bytes;
  MPI_Status status;
};

// In the order in which the receives were posted.
void check(const Step& step, const Plan& plan, const std::vector<Received>& all) {
  std::vector<std::size_t> next(plan.senders.size());
  for (const Received& one : all) {
    const int from = one.status.MPI_SOURCE;
    const std::size_t which = next[static_cast<std::size_t>(from)]++;
    if (!plan.senders[static_cast<std::size_t>(from)] || which >= plan.sizes.size()) {
      step.wrong(text("message %zu from %d, which sends no such", which, from));
    }
    int count = 0;
    MPI_Get_count(&one.status, MPI_BYTE, &count);
    step.expect_equal(one.status.MPI_TAG, plan.tag(step, which), "the tag", from);
    step.expect_equal(count, static_cast<long long>(plan.sizes[which]), "the count", from);
    step.expect(one.bytes.all().first(plan.sizes[which]),
                step.key(from, step.rank, static_cast<int>(which)), "a message", from);
  }
}

}  // namespace

// Ends with a barrier: no message of a later step may meet a wildcard of this one.
void wildcards(Step& step) {
  const Plan plan = draw(step);
  const auto expected = plan.sizes.size() * static_cast<std::size_t>(std::count(
                                                plan.senders.begin(), plan.senders.end(), 1));
  std::vector<Received> received(expected, Received{Bytes(0), {}});
  UnderWay operations;
  const bool early = step.own.chance(50);
  if (!early) send(step, plan, operations);
  for (Received& one : received) {
    one.bytes = Bytes(kMost);
    MPI_Irecv(one.bytes.data(), one.bytes.count(), MPI_BYTE, MPI_ANY_SOURCE,
              plan.any_tag ? MPI_ANY_TAG : step.tag(), step.comm,
              operations.add([&one](const MPI_Status& status) { one.status = status; }));
  }
  if (early) send(step, plan, operations);
  operations.complete(step.own);
  check(step, plan, received);
  MPI_Barrier(step.comm);
}

}  // namespace storm
