// MPI_Sendrecv and MPI_Sendrecv_replace around rings of any step width, and with nobody.
#include <algorithm>

#include "kinds.hpp"

namespace storm {

void exchanges(Step& step) {
  const int count = step.random.between(1, 12);
  for (int i = 0; i < count; ++i) {
    const int shift = step.random.below(step.size);
    const int to = (step.rank + shift) % step.size;
    const int from = (step.rank + step.size - shift) % step.size;
    const std::size_t size = step.draw_size();
    const bool replace = step.random.chance(50), open = step.random.chance(20);
    const int cut = step.random.below(step.size);  // whose message to the next goes nowhere
    const int target = open && step.rank == cut ? MPI_PROC_NULL : to;
    const int source = open && from == cut ? MPI_PROC_NULL : from;
    const Bytes sent(size, step.key(step.rank, to, i)), got(size);
    if (replace) {
      std::copy_n(sent.data(), size, got.data());
      MPI_Sendrecv_replace(got.data(), got.count(), MPI_BYTE, target, step.tag(), source,
                           step.tag(), step.comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, target, step.tag(), got.data(), got.count(),
                   MPI_BYTE, source, step.tag(), step.comm, MPI_STATUS_IGNORE);
      sent.spoil();
    }
    const bool nothing = source == MPI_PROC_NULL;
    if (nothing && !replace) continue;
    step.expect(got.all(), nothing ? step.key(step.rank, to, i) : step.key(from, step.rank, i),
                "an exchanged message", from);
  }
}

}  // namespace storm
