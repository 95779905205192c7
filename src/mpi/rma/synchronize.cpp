#include "mpi/rma/synchronize.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "mpi/comm/survival.hpp"
#include "mpi/rma/access.hpp"

namespace isthmus::face {
namespace {

/// One for each of the ranks.
using Numbers = std::vector<std::uint64_t>;

/// Throws MpiError if an operation to one of these ranks has been lost with its target.
void check_losses(GridWindow& window, const std::vector<int>& ranks) {
  if (!may_lose()) return;
  std::vector<int> lost;
  with_part(window, [&](rma::Window& part) {
    for (const int rank : ranks) {
      if (part.take_loss(rank)) lost.push_back(rank);
    }
  });
  check_alive(window, lost);
}

[[noreturn]] void throw_failure(const rma::Failure& failure, int rank) {
  if (failure.device.empty()) {
    throw MpiError(MPI_ERR_RMA_RANGE,
                   "an operation has reached beyond the memory that its target exposes");
  }
  throw MpiError(MPI_ERR_BUFFER,
                 "rank " + std::to_string(rank) +
                     " of the window could not reach its memory on a GPU: " + failure.device +
                     ". Keep such memory until the window is freed or it is "
                     "detached; other errors are the driver's");
}

void await(GridWindow& window, const std::vector<int>& ranks, const Numbers& numbers,
           const char* function) {
  wait_for_each(window, function, ranks, [&](const rma::Window& part, std::size_t i) {
    return part.done(ranks[i], numbers[i]);
  });
  window.near.synchronize();
  std::optional<rma::Failure> failure;
  int failed = 0;
  for (const int rank : ranks) {
    auto here = with_part(window, [rank](rma::Window& part) { return part.take_failure(rank); });
    if (here && !failure) failure = std::move(here), failed = rank;
    unpack_gets(window, rank);
  }
  {
    const core::Lock guard(window.mutex);
    if (window.gets.empty()) with_part(window, [](rma::Window& part) { part.settle(); });
  }
  if (failure) throw_failure(*failure, failed);
  check_losses(window, ranks);
}

}  // namespace

std::vector<int> partners(GridWindow& window) {
  return with_part(window, [](const rma::Window& part) { return part.partners(); });
}

void complete_at_targets(GridWindow& window, const std::vector<int>& ranks, const char* function) {
  Numbers numbers;
  with_part(window, [&](rma::Window& part) {
    for (const int rank : ranks) numbers.push_back(part.flush(rank));
    part.send_all();
  });
  await(window, ranks, numbers, function);
}

void unlock(GridWindow& window, const std::vector<int>& locked, const char* function) {
  Numbers numbers;
  with_part(window, [&](rma::Window& part) {
    for (const int rank : locked) numbers.push_back(part.unlock(rank));
    part.send_all();
  });
  await(window, locked, numbers, function);
}

void complete_locally(GridWindow& window, const std::vector<int>& ranks, const char* function) {
  with_part(window, [](rma::Window& part) { part.send_all(); });
  wait_for_each(window, function, ranks,
                [&](const rma::Window& part, std::size_t i) { return part.local_done(ranks[i]); });
  for (const int rank : ranks) unpack_gets(window, rank);
  check_losses(window, ranks);
}

}  // namespace isthmus::face
