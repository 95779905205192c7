// One epoch has more gets than the library can keep under way.
#include <algorithm>

#include "kinds.hpp"
#include "window.hpp"

namespace storm {

// All of a rank read the same bytes into the same place, as 12.2.2 of MPI-4.0 lets gets of equal
// values do no harm. A small number of ranks reads, so that bytes are few.
void many_gets(Step& step) {
  constexpr std::size_t kMost = std::size_t{128} << 10;
  const int count = step.random.one_of<int>({10'000, 30'000, 100'000});
  std::size_t bytes = step.draw_size(kMost) / 8 * 8;
  if (step.random.chance(30)) bytes = kMost;
  const int reader = step.random.below(step.size);
  const int source = (reader + step.random.between(1, std::max(1, step.size - 1))) % step.size;
  const bool fence = step.random.chance(60);
  Window window(step, Window::kCreated, kMost);
  fill(window.memory(), step.key(step.rank));
  const Bytes got(bytes);
  MPI_Win_fence(0, window.handle());
  if (!fence) MPI_Win_lock_all(0, window.handle());
  for (int i = 0; i < count && step.rank == reader; ++i) {
    MPI_Get(got.data(), got.count(), MPI_BYTE, source, window.displacement(source, 0), got.count(),
            MPI_BYTE, window.handle());
  }
  if (!fence) MPI_Win_unlock_all(window.handle());
  MPI_Win_fence(0, window.handle());
  if (step.rank == reader)
    step.expect(got.all(), step.key(source), "the last of many gets", source);
  window.free();
}

}  // namespace storm
