// Receives that are cancelled, whether or not their message has come.
#include "kinds.hpp"

namespace storm {

// Each rank posts receives from the one before it, and cancels some. A cancelled
// receive has either taken its message, or left it there. A second receive takes what is left.
void cancelled(Step& step) {
  const int count = step.random.between(1, 10);
  const int from = (step.rank + step.size - 1) % step.size, to = (step.rank + 1) % step.size;
  std::vector<std::size_t> sizes;
  std::vector<int> cancels;
  for (int i = 0; i < count; ++i) {
    sizes.push_back(step.draw_size(std::size_t{256} << 10));
    cancels.push_back(step.random.chance(60));
  }
  const bool sends_first = step.random.chance(50);

  UnderWay sends;
  const auto send = [&] {
    for (int i = 0; i < count; ++i) {
      const Bytes bytes(sizes[static_cast<std::size_t>(i)], step.key(step.rank, to, i));
      MPI_Isend(bytes.data(), bytes.count(), MPI_BYTE, to, step.tag(i), step.comm,
                sends.add([bytes](const MPI_Status&) { bytes.spoil(); }));
    }
  };
  if (sends_first) send();
  std::vector<Bytes> places;
  std::vector<MPI_Request> requests(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    places.emplace_back(sizes[at]);
    MPI_Irecv(places[at].data(), places[at].count(), MPI_BYTE, from, step.tag(i), step.comm,
              &requests[at]);
  }
  step.dawdle();
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (cancels[at]) MPI_Cancel(&requests[at]);
  }
  if (!sends_first) send();
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Status status;
    MPI_Wait(&requests[at], &status);
    int gone = 0;
    MPI_Test_cancelled(&status, &gone);
    if (gone && !cancels[at]) step.wrong("a receive that was not cancelled says that it was");
    if (gone) {
      MPI_Recv(places[at].data(), places[at].count(), MPI_BYTE, from, step.tag(i), step.comm,
               MPI_STATUS_IGNORE);
    }
    step.expect(places[at].all(), step.key(from, step.rank, i), "a message", from);
  }
  sends.complete(step.own);
}

}  // namespace storm
