#include "mpi/rma/synchronize.hpp"

#include <cstdint>
#include <utility>

#include "mpi/rma/access.hpp"

namespace isthmus::face {
namespace {

using Numbers = std::vector<std::pair<int, std::uint64_t>>;

void await(GridWindow& window, const Numbers& numbers, const char* function) {
  wait_for(window, function, [&](const rma::Window& part) {
    for (const auto& [rank, number] : numbers) {
      if (!part.done(rank, number)) return false;
    }
    return true;
  });
  {
    const std::lock_guard guard(window.mutex);
    ++window.synchronized;
  }
  bool failed = false;
  for (const auto& [rank, number] : numbers) {
    failed = with_part(window, [at = rank](rma::Window& part) { return part.take_failure(at); }) ||
             failed;
    unpack_gets(window, rank);
  }
  if (failed) {
    throw coll::Failure(MPI_ERR_RMA_RANGE,
                        "an operation has reached beyond the memory that its target exposes");
  }
}

}  // namespace

std::vector<int> partners(GridWindow& window) {
  return with_part(window, [](const rma::Window& part) { return part.partners(); });
}

void complete_at_targets(GridWindow& window, const std::vector<int>& ranks, const char* function) {
  Numbers numbers;
  with_part(window, [&](rma::Window& part) {
    for (const int rank : ranks) numbers.emplace_back(rank, part.flush(rank));
    part.send_all();
  });
  await(window, numbers, function);
}

void unlock(GridWindow& window, const std::vector<int>& locked, const char* function) {
  Numbers numbers;
  with_part(window, [&](rma::Window& part) {
    for (const int rank : locked) numbers.emplace_back(rank, part.unlock(rank));
    part.send_all();
  });
  await(window, numbers, function);
}

void complete_locally(GridWindow& window, const std::vector<int>& ranks, const char* function) {
  with_part(window, [](rma::Window& part) { part.send_all(); });
  wait_for(window, function, [&](const rma::Window& part) {
    for (const int rank : ranks) {
      if (!part.local_done(rank)) return false;
    }
    return true;
  });
  for (const int rank : ranks) unpack_gets(window, rank);
}

}  // namespace isthmus::face
