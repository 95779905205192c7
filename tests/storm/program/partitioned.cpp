// Partitioned messages: each partition is ready, and is read, when its turn comes.
#include <sched.h>

#include "kinds.hpp"

namespace storm {

#if MPI_VERSION >= 4

void partitioned(Step& step) {
  if (options.version < 4) return;
  const int parts = step.random.between(1, 12), rounds = step.random.between(1, 4);
  const std::size_t size = step.draw_size(std::size_t{64} << 10);
  const int to = (step.rank + 1) % step.size, from = (step.rank + step.size - 1) % step.size;
  const Bytes sent(size * static_cast<std::size_t>(parts)), got(sent.size());
  MPI_Request send, receive;
  MPI_Psend_init(sent.data(), parts, static_cast<MPI_Count>(size), MPI_BYTE, to, step.tag(),
                 step.comm, MPI_INFO_NULL, &send);
  MPI_Precv_init(got.data(), parts, static_cast<MPI_Count>(size), MPI_BYTE, from, step.tag(),
                 step.comm, MPI_INFO_NULL, &receive);
  std::vector<int> order;
  for (int i = 0; i < parts; ++i) order.push_back(i);
  for (int round = 0; round < rounds; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    step.own.shuffle(order);
    for (const int part : order) {
      const auto at = static_cast<std::size_t>(part) * size;
      fill(sent.all().subspan(at, size), step.key(step.rank, round, part));
      MPI_Pready(part, send);
    }
    const auto check = [&](int part) {
      step.expect(got.all().subspan(static_cast<std::size_t>(part) * size, size),
                  step.key(from, round, part), "a partition", from);
    };
    for (int i = step.own.below(parts + 1); i > 0; --i) {
      const int part = step.own.below(parts);
      for (int flag = 0; MPI_Parrived(receive, part, &flag), !flag;) sched_yield();
      check(part);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    sent.spoil();
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int part = 0; part < parts; ++part) check(part);
    got.spoil();
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

#else

void partitioned(Step&) {}

#endif

}  // namespace storm
