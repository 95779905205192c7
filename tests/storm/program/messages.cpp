// Messages between all pairs, in every mode, completed in every way; buffers change at once after.
#include "kinds.hpp"

namespace storm {

namespace {

struct Message {
  int from, to, which;
  std::size_t size;
  int mode;  // as send() has them
};

enum Mode { kStandard, kSynchronous, kReady, kBlocking, kBlockingSynchronous, kModes };

std::vector<Message> draw(Step& step, bool ready) {
  std::vector<Message> all;
  const int pairs = step.random.between(1, step.size * 2);
  for (int i = 0; i < pairs; ++i) {
    const int from = step.random.below(step.size), to = step.random.below(step.size);
    const std::size_t size = step.draw_size();
    const int count = step.draw_count(300, size, std::size_t{2} << 20);
    for (int which = 0; which < count; ++which) {
      int mode = step.random.below(kModes);
      if (mode == kReady && !ready) mode = kStandard;
      all.push_back({from, to, i * 1000 + which, size, mode});
    }
  }
  return all;
}

void send(Step& step, const Message& m, UnderWay& operations) {
  const Bytes bytes(m.size, step.key(m.from, m.to, m.which));
  const auto done = [bytes](const MPI_Status&) { bytes.spoil(); };
  const int tag = step.tag(m.which % 7);
  if (m.mode == kBlocking || m.mode == kBlockingSynchronous) {
    const auto call = m.mode == kBlocking ? MPI_Send : MPI_Ssend;
    call(bytes.data(), bytes.count(), MPI_BYTE, m.to, tag, step.comm);
    bytes.spoil();
    return;
  }
  const auto call = m.mode == kReady ? MPI_Irsend : m.mode == kSynchronous ? MPI_Issend : MPI_Isend;
  call(bytes.data(), bytes.count(), MPI_BYTE, m.to, tag, step.comm, operations.add(done));
}

void receive(Step& step, const Message& m, UnderWay& operations) {
  const std::size_t room = m.size + (step.own.chance(30) ? step.own.next() % 5000 : 0);
  const Bytes bytes(room);
  const std::uint64_t key = step.key(m.from, m.to, m.which);
  const auto done = [bytes, m, key, step = step](const MPI_Status& status) {
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    step.expect_equal(count, static_cast<long long>(m.size), "the count", m.from);
    step.expect_equal(status.MPI_SOURCE, m.from, "the source", m.from);
    step.expect(bytes.all().first(m.size), key, "a message", m.from);
  };
  MPI_Irecv(bytes.data(), bytes.count(), MPI_BYTE, m.from, step.tag(m.which % 7), step.comm,
            operations.add(done));
}

}  // namespace

// All receives are posted before the first send, so that blocking sends end.
void messages(Step& step) {
  const bool ready = step.random.chance(20);
  const std::vector<Message> all = draw(step, ready);
  UnderWay operations;
  for (const Message& m : all) {
    if (m.to == step.rank) receive(step, m, operations);
  }
  if (ready) MPI_Barrier(step.comm);
  for (const Message& m : all) {
    if (m.from != step.rank) continue;
    if (step.own.chance(3)) step.dawdle();
    send(step, m, operations);
  }
  step.complete(operations);
}

}  // namespace storm
