#include "access.hpp"

#include <algorithm>
#include <cstring>

namespace storm {

namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

Access draw(Step& step, std::size_t most) {
  Access access;
  access.put = step.random.chance(45);
  access.origin = step.random.below(step.size);
  access.target = step.random.below(step.size);
  access.bytes = aligned(step.draw_size(most));
  access.block = access.bytes;
  if (step.random.chance(15) && access.bytes > 64) {
    const auto blocks = static_cast<std::size_t>(step.random.between(2, 20));
    access.block = aligned(access.bytes / blocks);
    access.bytes = access.block * blocks;
  }
  return access;
}

}  // namespace

Round::Round(Step& step, Window& window, int number)
    : step_(step), window_(window), number_(number) {
  const std::size_t room = window.memory().size();
  std::vector<std::size_t> used(static_cast<std::size_t>(step.size));
  const int count = step.random.between(1, step.random.chance(90) ? 3 * step.size : 60);
  for (int i = 0; i < count; ++i) {
    Access access = draw(step, room / 2);
    access.which = i;
    const int repeats = step.random.chance(10) ? step.random.between(2, 30) : 1;
    std::size_t& cursor = used[static_cast<std::size_t>(access.target)];
    if (cursor + access.extent() > room) continue;
    access.offset = cursor;
    cursor += aligned(access.extent());
    all_.push_back(access);
    // A place that is only read may be read many times.
    if (!access.put) all_.insert(all_.end(), static_cast<std::size_t>(repeats - 1), access);
  }
  for (const Access& access : all_) {
    if (access.origin != step.rank) continue;
    Bytes bytes(access.bytes);
    if (access.put) fill(bytes.all(), put_key(access));
    mine_.push_back({access, bytes});
  }
}

std::uint64_t Round::memory_key(int target) const { return step_.key(number_, target, -1); }
std::uint64_t Round::put_key(const Access& access) const {
  return step_.key(number_, access.origin, access.which);
}

void Round::prepare() { fill(window_.memory(), memory_key(step_.rank)); }

bool Round::meet(int origin, int target) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Access& access) {
    return access.target == target && (origin < 0 || access.origin == origin);
  });
}

void Round::call(Mine& mine, MPI_Request* request) {
  const Access& a = mine.access;
  const MPI_Aint at = window_.displacement(a.target, a.offset);
  const int bytes = mine.bytes.count();
  MPI_Datatype type = MPI_BYTE;
  int count = bytes;
  if (a.blocks() > 1) {
    MPI_Type_vector(static_cast<int>(a.blocks()), static_cast<int>(a.block),
                    static_cast<int>(a.block) + 8, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    count = 1;
  }
  void* here = mine.bytes.data();
  const MPI_Win win = window_.handle();
  if (a.put && request != nullptr) {
    MPI_Rput(here, bytes, MPI_BYTE, a.target, at, count, type, win, request);
  } else if (a.put) {
    MPI_Put(here, bytes, MPI_BYTE, a.target, at, count, type, win);
  } else if (request != nullptr) {
    MPI_Rget(here, bytes, MPI_BYTE, a.target, at, count, type, win, request);
  } else {
    MPI_Get(here, bytes, MPI_BYTE, a.target, at, count, type, win);
  }
  if (type != MPI_BYTE) MPI_Type_free(&type);
}

void Round::issue(int target) {
  for (Mine& mine : mine_) {
    if (mine.access.target == target) call(mine, nullptr);
  }
}

void Round::issue_by_requests(int target) {
  UnderWay operations;
  for (Mine& mine : mine_) {
    if (mine.access.target != target) continue;
    // MPICH 4.0 over UCX completes MPI_Rget of a datatype with gaps before its data has come
    // (pmodels/mpich#7896).
    const bool lost = !mine.access.put && mine.access.blocks() > 1 && !step_.party.spans;
    if (lost) {
      call(mine, nullptr);
    } else {
      call(mine, operations.add([this, &mine](const MPI_Status&) { finish(mine); }));
    }
  }
  operations.complete(step_.own);
}

void Round::flush_locally(int target) {
  int accesses = 0;
  bool late_put = false;
  for (const Mine& mine : mine_) {
    if (mine.access.target == target && accesses++ > 0) late_put = late_put || mine.access.put;
  }
  // MPICH 4.0 over UCX forgets the accesses before a put (2026-11).
  if (late_put && !step_.party.spans) return;
  MPI_Win_flush_local(target, window_.handle());
  done_at_origin(target);
}

void Round::finish(Mine& mine) {
  mine.done = true;
  const Access& a = mine.access;
  if (a.put) {
    mine.bytes.spoil();
    return;
  }
  for (std::size_t i = 0; i < a.blocks(); ++i) {
    step_.expect(mine.bytes.all().subspan(i * a.block, a.block), memory_key(a.target), "a get",
                 a.target, a.offset_of(i));
  }
}

void Round::done_at_origin(int target) {
  for (Mine& mine : mine_) {
    if (mine.access.target == target && !mine.done) finish(mine);
  }
}

void Round::done_at_target() {
  const std::span<unsigned char> memory = window_.memory();
  std::vector<const Access*> here;
  for (const Access& access : all_) {
    if (access.target != step_.rank || access.extent() == 0) continue;
    here.push_back(&access);
    // All reads have ended: a copy still being made will show.
    if (!access.put) {
      for (std::size_t i = access.blocks(); i-- > 0;) {
        std::memset(memory.data() + access.offset_of(i) + access.block - 8, 0xdd, 8);
      }
    }
  }
  std::sort(here.begin(), here.end(),
            [](const Access* a, const Access* b) { return a->offset < b->offset; });
  const std::uint64_t key = memory_key(step_.rank);
  std::size_t at = 0;  // up to where memory has been checked
  const auto untouched = [&](std::size_t end) {
    if (end > at) step_.expect(memory.subspan(at, end - at), key, "memory", step_.rank, at);
    at = std::max(at, end);
  };
  for (const Access* access : here) {
    for (std::size_t i = 0; i < access->blocks(); ++i) {
      untouched(access->offset_of(i));
      if (access->put) {
        step_.expect(memory.subspan(access->offset_of(i), access->block), put_key(*access), "a put",
                     access->origin, i * access->block);
      }
      at = std::max(at, access->offset_of(i) + access->block);
    }
  }
  untouched(memory.size());
}

}  // namespace storm
