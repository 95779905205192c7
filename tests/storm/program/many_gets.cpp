// One epoch has more gets than the library can keep under way.
#include <algorithm>

#include "kinds.hpp"
#include "window.hpp"

namespace storm {

// The program may not access the buffer of a get before the get has completed (MPI-4.0, 12.3). So
// each get has a place of its own, and memory bounds their size.
void many_gets(Step& step) {
  constexpr std::size_t kMemory = std::size_t{64} << 20, kMost = std::size_t{128} << 10;
  const int count = step.random.one_of<int>({500, 10'000, 30'000, 150'000});
  const std::size_t room = std::min(kMost, kMemory / static_cast<std::size_t>(count));
  std::size_t bytes = step.draw_size(room) / 8 * 8;
  if (step.random.chance(30)) bytes = room / 8 * 8;
  const int reader = step.random.below(step.size);
  const int source = (reader + step.random.between(1, std::max(1, step.size - 1))) % step.size;
  const bool fence = step.random.chance(60);
  Window window(step, Window::kCreated, kMost);
  fill(window.memory(), step.key(step.rank));
  const Bytes got(step.rank == reader ? bytes * static_cast<std::size_t>(count) : 0);
  const auto place = [&](int i) {
    return got.all().subspan(static_cast<std::size_t>(i) * bytes, bytes);
  };
  const int length = static_cast<int>(bytes);
  MPI_Win_fence(0, window.handle());
  if (!fence) MPI_Win_lock_all(0, window.handle());
  for (int i = 0; i < count && step.rank == reader; ++i) {
    MPI_Get(place(i).data(), length, MPI_BYTE, source, window.displacement(source, 0), length,
            MPI_BYTE, window.handle());
  }
  if (!fence) MPI_Win_unlock_all(window.handle());
  MPI_Win_fence(0, window.handle());
  for (int i = 0; i < count && step.rank == reader; ++i) {
    step.expect(place(i), step.key(source), "one of many gets", source);
  }
  window.free();
}

}  // namespace storm
