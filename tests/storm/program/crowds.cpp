// Up to 100,000 small messages under way at a time.
#include <algorithm>

#include "kinds.hpp"

namespace storm {

void crowds(Step& step) {
  const int count = step.random.one_of<int>({1'000, 10'000, 10'000, 100'000}) / step.size;
  const int shift = step.random.between(1, std::max(1, step.size - 1));
  const int to = (step.rank + shift) % step.size,
            from = (step.rank + step.size - shift) % step.size;
  const std::size_t size = step.random.one_of<std::size_t>({8, 8, 64, 200});
  const bool receives_first = step.own.chance(50);
  const Bytes sent(size * static_cast<std::size_t>(count), step.key(step.rank)), got(sent.size());
  UnderWay operations;
  const auto part = [size](const Bytes& of, int i) {
    return of.data() + static_cast<std::size_t>(i) * size;
  };
  const auto receive = [&] {
    for (int i = 0; i < count; ++i) {
      MPI_Irecv(part(got, i), static_cast<int>(size), MPI_BYTE, from, step.tag(), step.comm,
                operations.add());
    }
  };
  if (receives_first) receive();
  for (int i = 0; i < count; ++i) {
    MPI_Isend(part(sent, i), static_cast<int>(size), MPI_BYTE, to, step.tag(), step.comm,
              operations.add());
  }
  if (!receives_first) receive();
  operations.complete(step.own);
  sent.spoil();
  step.expect(got.all(), step.key(from), "a crowd of messages", from);
}

}  // namespace storm
