#include "sim/natives.hpp"

#include <algorithm>
#include <vector>

#include "coll/engine/buffer.hpp"
#include "coll/engine/cut.hpp"
#include "coll/engine/portion.hpp"

namespace isthmus::sim {
namespace {

using coll::Buffer;
using coll::Bytes;
using coll::ConstBytes;
using coll::Locals;
using coll::Pending;
using coll::Reduction;
using coll::Sizes;
using coll::Task;

// Longer messages are scattered and gathered. MPICH 4 and Open MPI 4.1 leave binomial trees at
// different sizes (12 KiB; some 100), but that affects only the phases of long messages.
constexpr std::size_t kTree = 32 << 10;

/// Bruck's allgather of blocks at `offsets` of `all`. Each member has its own block: in round k 2^k
/// blocks go 2^k members down. Members are counted from `first` on.
Task bruck(Locals locals, Bytes all, Sizes offsets, int first) {
  const int size = locals.size();
  const int me = (locals.me - first + size) % size;
  const auto blocks = [&](int from, int to) {
    const std::size_t begin = offsets[static_cast<std::size_t>(from)];
    return all.subspan(begin, offsets[static_cast<std::size_t>(to)] - begin);
  };
  std::vector<Pending> round;
  for (int step = 1; step < size; step *= 2) {
    const int number = std::min(step, size - step);
    const int down = ((me - step + size) % size + first) % size;
    const int up = (me + step) % size, from = (up + first) % size;
    // Blocks that wrap around go in two messages.
    const int theirs = std::min(number, size - up), mine = std::min(number, size - me);
    round.push_back(locals.recv(from, blocks(up, up + theirs)));
    if (theirs < number) round.push_back(locals.recv(from, blocks(0, number - theirs)));
    round.push_back(locals.send(down, blocks(me, me + mine)));
    if (mine < number) round.push_back(locals.send(down, blocks(0, number - mine)));
    for (auto& p : round) co_await p;
    round.clear();
  }
}

/// Blocks at `offsets`, to be had by the members from `root` on, down a binomial tree.
Task scatter_down(Locals locals, Bytes data, Sizes offsets, int root) {
  const int size = locals.size();
  const int place = (locals.me - root + size) % size;
  const auto blocks = [&](int first, int last) {
    const std::size_t begin = offsets[static_cast<std::size_t>(first)];
    return data.subspan(begin, offsets[static_cast<std::size_t>(std::min(last, size))] - begin);
  };
  int reach = 1;
  while (reach < size) reach *= 2;
  for (int step = 1; step < size; step *= 2) {
    if ((place & step) == 0) continue;
    co_await locals.recv((place - step + root) % size, blocks(place, place + step));
    reach = step;
    break;
  }
  std::vector<Pending> sent;
  for (int step = reach / 2; step > 0; step /= 2) {
    if (place + step >= size) continue;
    sent.push_back(
        locals.send((place + step + root) % size, blocks(place + step, place + 2 * step)));
  }
  for (auto& p : sent) co_await p;
}

}  // namespace

Task native_barrier(Locals locals) {
  const int size = locals.size();
  for (int step = 1; step < size; step *= 2) {
    Pending come = locals.recv((locals.me - step + size) % size, {});
    Pending given = locals.send((locals.me + step) % size, {});
    co_await come;
    co_await given;
  }
}

Task native_bcast(Locals locals, Bytes data, int root) {
  if (data.size() <= kTree || locals.size() < 4) {
    co_await coll::bcast_of(locals, data, root);
    co_return;
  }
  const auto members = static_cast<std::size_t>(locals.size());
  const Sizes offsets = coll::offsets_of(coll::even_sizes(data.size(), members));
  co_await scatter_down(locals, data, offsets, root);
  co_await bruck(locals, data, offsets, root);
}

Task native_allgather(Locals locals, ConstBytes mine, Bytes all,
                      std::span<const std::size_t> sizes) {
  Sizes offsets = coll::offsets_of(sizes);
  coll::copy(mine, all.subspan(offsets[static_cast<std::size_t>(locals.me)], mine.size()));
  Task gathered = bruck(locals, all, std::move(offsets), 0);
  co_await gathered;
}

Task native_scan(Locals locals, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  coll::copy(in, out);
  Buffer before(in.size());
  for (int step = 1; step < locals.size(); step *= 2) {
    Pending given;
    Pending come;
    if (locals.me + step < locals.size()) given = locals.send(locals.me + step, out);
    if (locals.me >= step) come = locals.recv(locals.me - step, before.bytes());
    co_await given;
    co_await come;
    if (locals.me >= step) reduction.combine(before.bytes(), out, count);
  }
}

}  // namespace isthmus::sim
