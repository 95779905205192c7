// Sends whose request is freed at once. Their buffers change only when the receiver has answered.
// The process sends none to itself: MPICH 4.0 mixes such sends up where the process is alone in its
// MPI_COMM_WORLD (seen without Isthmus, November 2026).
#include "kinds.hpp"

namespace storm {

namespace {

std::vector<Bytes> send_and_free(Step& step, int to, const std::vector<std::size_t>& sizes) {
  std::vector<Bytes> sent;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sent.emplace_back(sizes[i], step.key(step.rank, to, static_cast<int>(i)));
    MPI_Request request;
    const auto call = step.own.chance(50) ? MPI_Isend : MPI_Issend;
    call(sent[i].data(), sent[i].count(), MPI_BYTE, to, step.tag(), step.comm, &request);
    MPI_Request_free(&request);
  }
  return sent;
}

void receive(Step& step, int from, const std::vector<std::size_t>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Bytes bytes(sizes[i]);
    MPI_Recv(bytes.data(), bytes.count(), MPI_BYTE, from, step.tag(), step.comm, MPI_STATUS_IGNORE);
    step.expect(bytes.all(), step.key(from, step.rank, static_cast<int>(i)), "a freed send", from);
  }
}

std::vector<std::size_t> draw_sizes(Step& step) {
  std::vector<std::size_t> sizes;
  const int count = step.random.between(1, 10);
  for (int i = 0; i < count; ++i) sizes.push_back(step.draw_size());
  return sizes;
}

}  // namespace

void freed(Step& step) {
  if (step.size < 2) return;
  const std::vector<std::size_t> sizes = draw_sizes(step);
  const int shift = step.random.between(1, step.size - 1);
  const int to = (step.rank + shift) % step.size,
            from = (step.rank + step.size - shift) % step.size;
  const std::vector<Bytes> sent = send_and_free(step, to, sizes);
  step.dawdle();
  receive(step, from, sizes);
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, from, step.tag(1), nullptr, 0, MPI_BYTE, to, step.tag(1),
               step.comm, MPI_STATUS_IGNORE);
  for (const Bytes& bytes : sent) bytes.spoil();
}

void last_words(Party& world) {
  Step step(world, 0, "the freed sends before MPI_Finalize");
  if (step.size < 2 || step.random.chance(50)) return;
  const std::vector<std::size_t> sizes = draw_sizes(step);
  const int half = step.size / 2;
  static std::vector<Bytes> sent;  // MPI_Finalize reads them
  sent = send_and_free(step, (step.rank + half) % step.size, sizes);
  receive(step, (step.rank + step.size - half) % step.size, sizes);
}

}  // namespace storm
