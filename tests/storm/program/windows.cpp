// Puts and gets under every synchronization. Memory changes at the first moment that MPI allows.
#include "access.hpp"
#include "kinds.hpp"

namespace storm {

namespace {

std::vector<int> peers(const Step& step, const Round& round, bool origins) {
  std::vector<int> found;
  for (int i = 0; i < step.size; ++i) {
    if (origins ? round.meet(i, step.rank) : round.meet(step.rank, i)) found.push_back(i);
  }
  return found;
}

MPI_Group group_of(const Step& step, const std::vector<int>& ranks) {
  MPI_Group all, some;
  MPI_Comm_group(step.comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

void by_fences(Step& step, Window& window, Round& round) {
  round.prepare();
  MPI_Win_fence(step.random.chance(50) ? MPI_MODE_NOPRECEDE : 0, window.handle());
  for (int target = 0; target < step.size; ++target) round.issue(target);
  step.dawdle();
  MPI_Win_fence(step.random.chance(50) ? MPI_MODE_NOSUCCEED : 0, window.handle());
  round.done_at_target();
  for (int target = 0; target < step.size; ++target) round.done_at_origin(target);
}

void by_post_and_start(Step& step, Window& window, Round& round) {
  const std::vector<int> targets = peers(step, round, false), origins = peers(step, round, true);
  const bool test = step.own.chance(40);
  MPI_Group to = group_of(step, targets), from = group_of(step, origins);
  round.prepare();
  if (!origins.empty()) MPI_Win_post(from, 0, window.handle());
  if (!targets.empty()) {
    MPI_Win_start(to, 0, window.handle());
    for (const int target : targets) round.issue(target);
    step.dawdle();
    MPI_Win_complete(window.handle());
  }
  // Before or after the target's part: the copies that a get makes may be late either way.
  const bool origin_first = step.own.chance(50);
  const auto origin = [&] {
    for (const int target : targets) round.done_at_origin(target);
  };
  if (origin_first) origin();
  if (!origins.empty()) {
    if (test) {
      for (int flag = 0; MPI_Win_test(window.handle(), &flag), !flag;) {
      }
    } else {
      MPI_Win_wait(window.handle());
    }
  }
  round.done_at_target();
  if (!origin_first) origin();
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

// Origins tell a target by an empty message that their accesses are complete there. A target may be
// the origin itself, so the send does not block.
void tell(Step& step, int target) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(nullptr, 0, MPI_BYTE, target, step.tag(1), step.comm, &request);
  MPI_Request_free(&request);
}
void hear_of_all(Step& step, const std::vector<int>& origins) {
  for (const int origin : origins) {
    MPI_Recv(nullptr, 0, MPI_BYTE, origin, step.tag(1), step.comm, MPI_STATUS_IGNORE);
  }
}

void by_locks(Step& step, Window& window, Round& round) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, step.rank, 0, window.handle());
  round.prepare();
  MPI_Win_unlock(step.rank, window.handle());
  MPI_Barrier(step.comm);
  std::vector<int> targets = peers(step, round, false);
  step.own.shuffle(targets);
  for (const int target : targets) {
    const int type = step.own.chance(50) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    MPI_Win_lock(type, target, 0, window.handle());
    if (step.own.chance(30)) {
      round.issue_by_requests(target);
    } else {
      round.issue(target);
      if (step.own.chance(20)) round.flush_locally(target);
    }
    MPI_Win_unlock(target, window.handle());
    tell(step, target);
    round.done_at_origin(target);
  }
  hear_of_all(step, peers(step, round, true));
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, step.rank, 0, window.handle());
  round.done_at_target();
  MPI_Win_unlock(step.rank, window.handle());
}

void by_flushes(Step& step, Window& window, Round& round) {
  MPI_Win_lock_all(step.random.chance(50) ? MPI_MODE_NOCHECK : 0, window.handle());
  round.prepare();
  MPI_Win_sync(window.handle());
  MPI_Barrier(step.comm);
  std::vector<int> targets = peers(step, round, false);
  step.own.shuffle(targets);
  const bool together = step.own.chance(40);
  for (const int target : targets) {
    if (step.own.chance(30)) {
      round.issue_by_requests(target);
    } else {
      round.issue(target);
    }
    if (together) continue;
    if (step.own.chance(20)) round.flush_locally(target);
    MPI_Win_flush(target, window.handle());
    tell(step, target);
    round.done_at_origin(target);
  }
  if (together) {
    MPI_Win_flush_all(window.handle());
    for (const int target : targets) tell(step, target);
    for (const int target : targets) round.done_at_origin(target);
  }
  hear_of_all(step, peers(step, round, true));
  MPI_Win_sync(window.handle());
  round.done_at_target();
  MPI_Win_sync(window.handle());
  MPI_Barrier(step.comm);
  MPI_Win_unlock_all(window.handle());
}

// The memory of a created window is the program's again when MPI_Win_free returns.
void ended_by_free(Step& step, Window& window, Round& round) {
  MPI_Win_lock_all(0, window.handle());
  round.prepare();
  MPI_Win_sync(window.handle());
  MPI_Barrier(step.comm);
  for (int target = 0; target < step.size; ++target) round.issue(target);
  MPI_Win_unlock_all(window.handle());
  window.free();
  round.done_at_target();
  for (int target = 0; target < step.size; ++target) round.done_at_origin(target);
}

struct Way {
  const char* name;
  void (*play)(Step&, Window&, Round&);
};
const std::vector<Way> kWays{{"fences", by_fences},
                             {"post and start", by_post_and_start},
                             {"locks", by_locks},
                             {"flushes", by_flushes}};
constexpr const char* kFlavorNames[] = {"allocated", "created", "dynamic"};

}  // namespace

void windows(Step& step) {
  const auto flavor = static_cast<Window::Flavor>(step.random.below(Window::kFlavors));
  const std::size_t bytes = step.draw_size(std::size_t{1} << 20) + 1024;
  Window window(step, flavor, bytes);
  const int rounds = step.random.between(1, 6);
  for (int i = 0; i < rounds; ++i) {
    const auto& [name, play] = step.random.one_of(kWays);
    step.name = text("windows (%s, %s)", kFlavorNames[flavor], name);
    Round round(step, window, i);
    play(step, window, round);
    // Epochs of different kinds are apart from each other.
    MPI_Barrier(step.comm);
  }
  if (flavor == Window::kCreated && step.random.chance(50)) {
    step.name = "windows (ended by MPI_Win_free)";
    Round round(step, window, rounds);
    ended_by_free(step, window, round);
  } else {
    window.free();
  }
}

}  // namespace storm
