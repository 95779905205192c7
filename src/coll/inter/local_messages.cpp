#include "coll/inter/local_messages.hpp"

#include "coll/engine/buffer.hpp"
#include "coll/engine/portion.hpp"

namespace isthmus::coll {

Task bcast_of(Locals locals, Bytes data, int root) {
  // A binomial tree: place 0 is the root's.
  const int size = locals.size();
  const int place = (locals.me - root + size) % size;
  int reach = 1;
  while (reach < size) reach *= 2;
  for (int step = 1; step < size; step *= 2) {
    if ((place & step) == 0) continue;
    co_await locals.recv((place - step + root) % size, data);
    reach = step;
    break;
  }
  std::vector<Pending> sent;
  for (int step = reach / 2; step > 0; step /= 2) {
    if (place + step < size) sent.push_back(locals.send((place + step + root) % size, data));
  }
  for (auto& p : sent) co_await p;
}

Task gather_of(Locals locals, ConstBytes mine, Bytes all, Sizes sizes, int root) {
  if (locals.me != root) {
    co_await locals.send(root, mine);
    co_return;
  }
  std::vector<Pending> come;
  std::size_t place = 0;
  for (int i = 0; i < locals.size(); ++i) {
    const Bytes block = all.subspan(place, sizes[static_cast<std::size_t>(i)]);
    place += block.size();
    if (i == root) {
      copy(mine, block);
    } else {
      come.push_back(locals.recv(i, block));
    }
  }
  for (auto& p : come) co_await p;
}

Task scatter_of(Locals locals, ConstBytes all, Sizes sizes, Bytes mine, int root) {
  if (locals.me != root) {
    co_await locals.recv(root, mine);
    co_return;
  }
  std::vector<Pending> given;
  std::size_t place = 0;
  for (int i = 0; i < locals.size(); ++i) {
    const ConstBytes block = all.subspan(place, sizes[static_cast<std::size_t>(i)]);
    place += block.size();
    if (i == root) {
      copy(block, mine);
    } else {
      given.push_back(locals.send(i, block));
    }
  }
  for (auto& p : given) co_await p;
}

Task barrier_of(Locals locals) {
  const Sizes nothing(static_cast<std::size_t>(locals.size()), 0);
  Task all_here = gather_of(locals, {}, {}, nothing, 0);
  co_await all_here;
  Task go = bcast_of(locals, {}, 0);
  co_await go;
}

Task allgather_of(Locals locals, ConstBytes mine, Bytes all, Sizes sizes) {
  co_await gather_of(locals, mine, all, sizes, 0);
  co_await bcast_of(locals, all.first(total(sizes)), 0);
}

Task alltoall_of(Locals locals, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes) {
  std::vector<Pending> pending;
  std::size_t from = 0;
  std::size_t to = 0;
  ConstBytes kept;
  Bytes keeps;
  for (int i = 0; i < locals.size(); ++i) {
    const auto block = static_cast<std::size_t>(i);
    const ConstBytes given = out.subspan(from, out_sizes[block]);
    const Bytes come = in.subspan(to, in_sizes[block]);
    from += given.size();
    to += come.size();
    if (i == locals.me) {
      copy(given, come);
    } else {
      pending.push_back(locals.recv(i, come));
      pending.push_back(locals.send(i, given));
    }
  }
  for (auto& p : pending) co_await p;
}

Task reduce_of(Locals locals, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
               int root) {
  // A binomial tree in rank order, whose result is at local index 0.
  const std::size_t bytes = reduction.packed_size(count);
  Buffer left(bytes);
  Buffer right(bytes);
  copy(in, left.bytes());
  for (int step = 1; step < locals.size(); step *= 2) {
    if ((locals.me & step) != 0) {
      co_await locals.send(locals.me - step, left.bytes());
      break;
    }
    if (locals.me + step >= locals.size()) continue;
    co_await locals.recv(locals.me + step, right.bytes());
    reduction.combine(left.bytes(), right.bytes(), count);
    std::swap(left, right);
  }
  if (root == 0) {
    if (locals.me == 0) copy(left.bytes(), out);
    co_return;
  }
  if (locals.me == 0) {
    co_await locals.send(root, left.bytes());
  } else if (locals.me == root) {
    co_await locals.recv(0, out);
  }
}

Task scan_of(Locals locals, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  copy(in, out);
  if (locals.me > 0) {
    Buffer before(reduction.packed_size(count));
    co_await locals.recv(locals.me - 1, before.bytes());
    reduction.combine(before.bytes(), out, count);
  }
  if (locals.me + 1 < locals.size()) co_await locals.send(locals.me + 1, out);
}

}  // namespace isthmus::coll
