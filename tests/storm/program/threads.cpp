// Several threads of each process play plans of their own, each on its own communicator.
#include <thread>

#include "kinds.hpp"

namespace storm {

void threads(Step& step) {
  const int count = step.random.between(2, 3), steps = step.random.between(2, 6);
  std::vector<Party> parties;
  for (int i = 0; i < count; ++i) {
    MPI_Comm own;
    MPI_Comm_dup(step.comm, &own);
    parties.emplace_back(own, step.key(i), true);
  }
  std::vector<std::thread> playing;
  for (Party& party : parties) {
    playing.emplace_back([&party, steps] {
      for (int i = 0; i < steps; ++i) play(party, i);
      Random random(party.seed + static_cast<std::uint64_t>(party.rank));
      settle(party, random);
    });
  }
  for (std::thread& thread : playing) thread.join();
  for (Party& party : parties) MPI_Comm_free(&party.comm);
}

}  // namespace storm
