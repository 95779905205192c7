// Messages and collectives between two sides, and steps on what they merge to.
#include "intercommunicators.hpp"

#include "kinds.hpp"

namespace storm {

namespace {

constexpr std::size_t kMost = std::size_t{64} << 10;

// Each rank of each side sends to all of the other, which take what comes.
void messages_between(Step& step, const Sides& sides, int number) {
  const int each = step.random.between(1, step.random.chance(80) ? 4 : 40);
  const bool any_tag = step.random.chance(50), probe = step.random.chance(30);
  if (sides.inter == MPI_COMM_NULL) return;
  const auto size = [&](int from, int which) {
    return size_between(step, from, number, which, std::size_t{256} << 10);
  };
  const auto key = [&, number](int from, int to, int which) {
    return step.key(from * 1000 + to, number, which);
  };
  UnderWay operations;
  for (int which = 0; which < each; ++which) {
    for (int i = 0; i < sides.remote_size(); ++i) {
      const Bytes bytes(size(step.rank, which),
                        key(step.rank, sides.theirs()[static_cast<std::size_t>(i)], which));
      MPI_Isend(bytes.data(), bytes.count(), MPI_BYTE, i, any_tag ? which % 9 : 0, sides.inter,
                operations.add([bytes](const MPI_Status&) { bytes.spoil(); }));
    }
  }
  std::vector<int> next(static_cast<std::size_t>(sides.remote_size()));
  const int tag = any_tag ? MPI_ANY_TAG : 0;
  for (int i = each * sides.remote_size(); i > 0; --i) {
    MPI_Status status;
    const Bytes bytes(std::size_t{256} << 10);
    if (probe) {
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, tag, sides.inter, &message, &status);
      MPI_Mrecv(bytes.data(), bytes.count(), MPI_BYTE, &message, &status);
    } else {
      MPI_Recv(bytes.data(), bytes.count(), MPI_BYTE, MPI_ANY_SOURCE, tag, sides.inter, &status);
    }
    const auto from = static_cast<std::size_t>(status.MPI_SOURCE);
    if (from >= next.size()) step.wrong(text("a message between sides from %d", status.MPI_SOURCE));
    const int which = next[from]++, rank = sides.theirs()[from];
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (which >= each) step.wrong(text("a message too many from %d of the other side", rank));
    step.expect_equal(status.MPI_TAG, any_tag ? which % 9 : 0, "the tag", rank);
    step.expect_equal(count, static_cast<long long>(size(rank, which)), "the count", rank);
    step.expect(bytes.all().first(static_cast<std::size_t>(count)), key(rank, step.rank, which),
                "a message between sides", rank);
  }
  operations.complete(step.own);
  MPI_Barrier(sides.inter);
}

// Steps of all kinds, on the communicator of both sides.
void merged(Step& step, const Sides& sides) {
  const int low = step.random.below(2), steps = step.random.between(1, 3);
  if (sides.inter == MPI_COMM_NULL) return;
  MPI_Comm made;
  MPI_Intercomm_merge(sides.inter, sides.side != low, &made);
  std::vector<int> should = sides.members[low];
  should.insert(should.end(), sides.members[1 - low].begin(), sides.members[1 - low].end());
  Party party(made, step.key(1), false);
  party.depth = step.party.depth + 1;
  step.expect_equal(party.size, static_cast<long long>(should.size()), "the size of both sides");
  step.expect_equal(should[static_cast<std::size_t>(party.rank)], step.rank, "the merged rank");
  for (int i = 0; i < steps; ++i) play(party, i);
  settle(party, step.own);
  MPI_Comm_free(&made);
}

}  // namespace

std::size_t size_between(const Step& step, int a, int b, int c, std::size_t most) {
  Step drawing = step;
  drawing.random = step.drawn_for(a, b, c);
  return drawing.draw_size(most);
}

void intercommunicators(Step& step) {
  if (step.size < 2) return;
  Sides sides = make_sides(step);
  const int count = step.random.between(1, 6);
  for (int i = 0; i < count; ++i) {
    switch (step.random.below(4)) {
      case 0:
        messages_between(step, sides, i);
        break;
      case 1:
        if (step.party.depth < 2) merged(step, sides);
        break;
      default:
        UnderWay operations;
        const int together = step.random.between(1, 3);
        for (int j = 0; j < together; ++j) {
          collective_between(step, sides, i * 10 + j, kMost, operations);
        }
        operations.complete(step.own);
    }
  }
  if (sides.inter == MPI_COMM_NULL) return;
  if (step.random.chance(50)) {
    MPI_Comm_free(&sides.inter);
  } else {
    MPI_Comm_disconnect(&sides.inter);
  }
}

}  // namespace storm
