// Accumulating calls of several origins on the same memory of a window.
#include <algorithm>

#include "kinds.hpp"
#include "window.hpp"

namespace storm {

namespace {

constexpr int kSum = 0, kCounter = 1, kWinner = 2, kHeads = 8;  // words at the window's start

struct Plan {
  int synchronization;
  std::vector<int> counts;  ///< of each rank's accumulated words, from kHeads on
  int target;
  int fetches;  ///< that each rank makes
};

std::uint64_t word(const Step& step, int origin, int i) {
  return mixed(step.key(origin) + static_cast<std::uint64_t>(i));
}

void begin(const Plan& plan, MPI_Win win) {
  if (plan.synchronization == 0) MPI_Win_fence(0, win);
  if (plan.synchronization == 1) MPI_Win_lock(MPI_LOCK_SHARED, plan.target, 0, win);
  if (plan.synchronization == 2) MPI_Win_lock_all(0, win);
}
void end(const Plan& plan, MPI_Win win) {
  if (plan.synchronization == 0) MPI_Win_fence(0, win);
  if (plan.synchronization == 1) MPI_Win_unlock(plan.target, win);
  if (plan.synchronization == 2) MPI_Win_unlock_all(win);
}

}  // namespace

// Everything goes to one target: vectors are summed by MPI_Accumulate and MPI_Get_accumulate,
// a counter is drawn from by MPI_Fetch_and_op, and one origin wins by MPI_Compare_and_swap.
void sums(Step& step) {
  Plan plan;
  plan.synchronization = step.random.below(3);
  plan.target = step.random.below(step.size);
  plan.fetches = step.random.between(0, step.random.chance(90) ? 10 : 300);
  int most = 0;
  for (int i = 0; i < step.size; ++i) {
    plan.counts.push_back(static_cast<int>(step.draw_size(std::size_t{300} << 10) / 8));
    most = std::max(most, plan.counts.back());
  }
  const auto flavor = static_cast<Window::Flavor>(step.random.below(Window::kFlavors));
  Window window(step, flavor, static_cast<std::size_t>(kHeads + most) * 8);
  const MPI_Win win = window.handle();
  const auto at = [&](int i) {
    return window.displacement(plan.target, static_cast<std::size_t>(i) * 8);
  };

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, step.rank, 0, win);
  std::fill(window.memory().begin(), window.memory().end(), 0);
  MPI_Win_unlock(step.rank, win);
  MPI_Barrier(step.comm);

  const int count = plan.counts[static_cast<std::size_t>(step.rank)];
  const Bytes mine(static_cast<std::size_t>(count) * 8, step.key(step.rank)), before(mine.size());
  const Bytes fetched(static_cast<std::size_t>(plan.fetches) * 8);
  const bool get = step.own.chance(40);
  const std::uint64_t one = 1, zero = 0, me = static_cast<std::uint64_t>(step.rank) + 1;
  std::uint64_t seen = 77;
  begin(plan, win);
  if (get) {
    MPI_Get_accumulate(mine.data(), count, MPI_UINT64_T, before.data(), count, MPI_UINT64_T,
                       plan.target, at(kHeads), count, MPI_UINT64_T, MPI_SUM, win);
  } else {
    MPI_Accumulate(mine.data(), count, MPI_UINT64_T, plan.target, at(kHeads), count, MPI_UINT64_T,
                   MPI_SUM, win);
  }
  for (int i = 0; i < plan.fetches; ++i) {
    MPI_Fetch_and_op(&one, fetched.as<std::uint64_t>() + i, MPI_UINT64_T, plan.target, at(kCounter),
                     MPI_SUM, win);
  }
  MPI_Compare_and_swap(&me, &zero, &seen, MPI_UINT64_T, plan.target, at(kWinner), win);
  MPI_Accumulate(&one, 1, MPI_UINT64_T, plan.target, at(kSum), 1, MPI_UINT64_T, MPI_SUM, win);
  end(plan, win);
  mine.spoil();
  MPI_Barrier(step.comm);

  // The ranks have drawn each value of the counter once; those of a rank ascend.
  const int drawn = plan.fetches * step.size;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(drawn));
  std::vector<std::uint64_t> winners(static_cast<std::size_t>(step.size));
  MPI_Allgather(fetched.data(), plan.fetches, MPI_UINT64_T, all.data(), plan.fetches, MPI_UINT64_T,
                step.comm);
  MPI_Allgather(&seen, 1, MPI_UINT64_T, winners.data(), 1, MPI_UINT64_T, step.comm);
  std::vector<int> times(static_cast<std::size_t>(drawn));
  for (const std::uint64_t value : all) {
    if (value >= all.size() || times[value]++ > 0) {
      step.wrong(text("a counter gave %llu twice, or above %d",
                      static_cast<unsigned long long>(value), drawn));
    }
  }
  int winner = -1;
  for (int i = 0; i < step.size; ++i) {
    if (winners[static_cast<std::size_t>(i)] == 0) {
      step.expect_equal(winner, -1, "another winner of a compare-and-swap", i);
      winner = i;
    }
  }
  for (const std::uint64_t loser : winners) {
    if (loser != 0)
      step.expect_equal(static_cast<long long>(loser), winner + 1, "what a loser saw");
  }
  if (step.rank == plan.target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, step.rank, 0, win);
    const auto* words = reinterpret_cast<const std::uint64_t*>(window.memory().data());
    step.expect_equal(static_cast<long long>(words[kSum]), step.size, "the number of summands");
    step.expect_equal(static_cast<long long>(words[kCounter]), drawn, "the counter");
    step.expect_equal(static_cast<long long>(words[kWinner]), winner + 1, "the winner");
    for (int i = 0; i < most; ++i) {
      std::uint64_t should = 0;
      for (int origin = 0; origin < step.size; ++origin) {
        if (i < plan.counts[static_cast<std::size_t>(origin)]) should += word(step, origin, i);
      }
      if (words[kHeads + i] != should) step.wrong(text("sum %d of %d is wrong", i, most));
    }
    MPI_Win_unlock(step.rank, win);
  }
  window.free();
}

}  // namespace storm
