// Messages between any datatypes of the same elements: each side has layouts of its own.
#include "kinds.hpp"
#include "typed_memory.hpp"

namespace storm {

namespace {

constexpr std::size_t kMost = std::size_t{512} << 10;

enum Mode { kStandard, kSynchronous, kBlocking, kPersistent, kModes };

struct Message {
  int from, to, which;
  Signature signature;
  int times;  ///< the signature
  int mode;

  [[nodiscard]] int tag(const Step& step) const { return step.tag(which % 7); }
};

Signature draw_times(Step& step, std::size_t most, int& times) {
  const std::size_t bytes = step.draw_size(most);
  times = bytes == 0 ? 0 : step.random.chance(50) ? 1 : step.random.between(1, 12);
  if (step.random.chance(5)) times = step.random.between(1, 1000);
  const auto each = bytes / static_cast<std::size_t>(std::max(1, times));
  return draw_signature(step.random, each);
}

std::vector<Message> draw(Step& step) {
  std::vector<Message> all;
  const int pairs = step.random.between(1, step.size * 2);
  for (int i = 0; i < pairs; ++i) {
    const int from = step.random.below(step.size), to = step.random.below(step.size);
    int times = 0;
    const Signature signature = draw_times(step, kMost, times);
    const int count = step.draw_count(20, signature.bytes() * static_cast<std::size_t>(times),
                                      std::size_t{1} << 20);
    for (int which = 0; which < count; ++which) {
      all.push_back({from, to, i * 100 + which, signature, times, step.random.below(kModes)});
    }
  }
  return all;
}

Counted mine(Step& step, const Message& m, int more = 0) {
  if (m.times + more == 0) return {draw_layout(step.own, m.signature, 1), 0};
  return draw_counted(step.own, m.signature, m.times + more);
}

using Persistents = std::vector<MPI_Request>;

void send(Step& step, const Message& m, UnderWay& operations, Persistents& persistents) {
  const TypedMemory memory(mine(step, m), step.key(m.from, m.to, -1 - m.which));
  memory.fill(step.key(m.from, m.to, m.which));
  const auto done = [memory](const MPI_Status&) { memory.spoil(); };
  const int count = memory.count();
  const MPI_Datatype type = memory.type();
  if (m.mode == kBlocking) {
    MPI_Send(memory.address(), count, type, m.to, m.tag(step), step.comm);
    memory.spoil();
    return;
  }
  MPI_Request* request = operations.add(done);
  if (m.mode == kPersistent) {
    MPI_Send_init(memory.address(), count, type, m.to, m.tag(step), step.comm, request);
    MPI_Start(request);
    persistents.push_back(*request);
  } else {
    const auto call = m.mode == kSynchronous ? MPI_Issend : MPI_Isend;
    call(memory.address(), count, type, m.to, m.tag(step), step.comm, request);
  }
  if (step.own.chance(50)) memory.block().layout.free_early();
}

void receive(Step& step, const Message& m, UnderWay& operations, Persistents& persistents) {
  const int more = step.own.chance(30) ? step.own.between(1, 9) : 0;
  const TypedMemory memory(mine(step, m, more), step.key(m.from, m.to, -1 - m.which) + 1);
  const std::size_t bytes = m.signature.bytes() * static_cast<std::size_t>(m.times);
  const bool whole = step.own.chance(50);  // its type is still there when it ends
  const auto done = [=, step = step](const MPI_Status& status) {
    step.expect_equal(status.MPI_SOURCE, m.from, "the source", m.from);
    if (whole) {
      const std::size_t each = memory.block().layout.size();
      const long long full =
          bytes % each == 0 ? static_cast<long long>(bytes / each) : MPI_UNDEFINED;
      // Not MPI_Get_elements: MPICH 5.0.2 miscounts there, or aborts (2026-11).
      int count = -1;
      MPI_Get_count(&status, memory.type(), &count);
      step.expect_equal(count, full, "the count", m.from);
    }
    memory.expect(step, {{0, step.key(m.from, m.to, m.which), bytes, m.from}}, "a message");
  };
  MPI_Request* request = operations.add(done);
  if (m.mode == kPersistent) {
    MPI_Recv_init(memory.address(), memory.count(), memory.type(), m.from, m.tag(step), step.comm,
                  request);
    MPI_Start(request);
    persistents.push_back(*request);
  } else {
    MPI_Irecv(memory.address(), memory.count(), memory.type(), m.from, m.tag(step), step.comm,
              request);
  }
  if (!whole) memory.block().layout.free_early();
}

// A message replaces the one that has left from the same memory. No process sends to itself:
// MPICH 5.0 raises MPI_ERR_TYPE then, for layouts with many pieces (2026-11). All elements are
// numbers of one size: else MPICH 4.0 raises MPI_ERR_TRUNCATE for more than 8 KiB, as for an odd
// number of bytes before integers (2026-11).
void replace(Step& step, int which) {
  if (step.size < 2) return;
  int times = 0;
  Signature signature = draw_times(step, kMost / 2, times);
  signature.runs.resize(1);
  signature.runs[0].base %= kPairs;
  const int shift = step.random.between(1, step.size - 1);
  const int to = (step.rank + shift) % step.size;
  const int from = (step.rank + step.size - shift) % step.size;
  const Message m{step.rank, to, which, signature, times, kBlocking};
  const TypedMemory memory(mine(step, m), step.key(step.rank, to, -which));
  memory.fill(step.key(step.rank, to, which));
  MPI_Sendrecv_replace(memory.address(), memory.count(), memory.type(), to, step.tag(9), from,
                       step.tag(9), step.comm, MPI_STATUS_IGNORE);
  memory.expect(step, step.key(from, step.rank, which), "a message in place of another", from);
}

// The message is found first, and has then as much room as it needs.
void probed(Step& step, int which) {
  int times = 0;
  const Signature signature = draw_times(step, kMost / 2, times);
  const int to = (step.rank + 1) % step.size, from = (step.rank + step.size - 1) % step.size;
  const Message m{step.rank, to, which, signature, times, kStandard};
  UnderWay operations;
  const TypedMemory sent(mine(step, m), step.key(step.rank, to, -which));
  sent.fill(step.key(step.rank, to, which));
  MPI_Isend(sent.address(), sent.count(), sent.type(), to, step.tag(10), step.comm,
            operations.add([sent](const MPI_Status&) { sent.spoil(); }));
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(from, step.tag(10), step.comm, &message, &status);
  const TypedMemory got(mine(step, m), step.key(from, step.rank, -which) + 1);
  MPI_Imrecv(got.address(), got.count(), got.type(), &message,
             operations.add([=, step = step](const MPI_Status&) {
               got.expect(step, step.key(from, step.rank, which), "a probed message", from);
             }));
  operations.complete(step.own);
}

}  // namespace

void layouts(Step& step) {
  const std::vector<Message> all = draw(step);
  UnderWay operations;
  Persistents persistents;
  for (const Message& m : all) {
    if (m.to == step.rank) receive(step, m, operations, persistents);
  }
  for (const Message& m : all) {
    if (m.from == step.rank) send(step, m, operations, persistents);
  }
  for (int i = step.random.below(3); i > 0; --i) {
    if (step.random.chance(50)) {
      replace(step, 10'000 + i);
    } else {
      probed(step, 20'000 + i);
    }
  }
  if (persistents.empty()) {
    step.complete(operations);
  } else {
    operations.complete(step.own);
  }
  for (MPI_Request& request : persistents) MPI_Request_free(&request);
}

}  // namespace storm
