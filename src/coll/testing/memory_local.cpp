// The local collectives of the in-memory party. Each member contributes when it joins, and reads
// the contributions that it needs as soon as they are there: no more synchronisation than MPI
// promises.
#include <algorithm>
#include <functional>

#include "coll/engine/buffer.hpp"
#include "coll/engine/portion.hpp"
#include "coll/testing/memory_party.hpp"

namespace isthmus::coll {

struct MemoryParty::LocalCall {
  std::string what;
  ConstBytes contribution;
  std::vector<std::size_t> sizes;  // of its blocks
  int readers = 0;                 // others that will read it
  std::vector<std::size_t> needs;  // members to be read, in order
  /// Takes the contribution of member i.
  std::function<void(std::size_t i, const LocalPart& part)> read;
};

struct MemoryLocal : MemoryProgress {
  MemoryLocal(MemoryGrid& grid_, MemoryParty& party_, std::shared_ptr<LocalSlot> slot_,
              std::size_t me_, std::vector<std::size_t> needs_,
              std::function<void(std::size_t, const LocalPart&)> read_, bool eager_)
      : MemoryProgress(grid_),
        party(party_),
        slot(std::move(slot_)),
        me(me_),
        needs(std::move(needs_)),
        read(std::move(read_)),
        eager(eager_),
        ready(grid_.soon()) {}
  ~MemoryLocal() override {
    if (!done) grid.breach(slot->what + " was dropped before it was done");
  }
  bool poll() override {
    progress();
    if (done) party.depth = std::max(party.depth, depth);
    return done;
  }
  void progress() override {
    if (done || grid.tick_ < ready) return;
    if (!has_read) {
      for (const std::size_t i : needs) {
        if (!slot->parts[i].joined) return;
      }
      for (const std::size_t i : needs) {
        auto& part = slot->parts[i];
        if (read) read(i, part);
        depth = std::max(depth, part.depth);
        if (i != me) --part.readers;
      }
      has_read = true;
    }
    if (!eager && slot->parts[me].readers > 0) return;
    grid.last_progress_ = grid.tick_;
    done = true;
  }
  MemoryParty& party;
  std::shared_ptr<LocalSlot> slot;
  std::size_t me;
  std::vector<std::size_t> needs;
  std::function<void(std::size_t, const LocalPart&)> read;
  bool eager;
  std::uint64_t ready;
  int depth = 0;
  bool has_read = false, done = false;
};

namespace {

std::vector<std::size_t> up_to(std::size_t number) {
  std::vector<std::size_t> all(number);
  for (std::size_t i = 0; i < number; ++i) all[i] = i;
  return all;
}

void require(bool condition, const std::string& sentence) {
  if (!condition) throw std::logic_error(sentence);
}

void put(ConstBytes from, Bytes to, const std::string& what) {
  require(from.size() == to.size(), what + ": sizes differ");
  copy(from, to);
}

void require_apart(ConstBytes a, ConstBytes b, const std::string& what) {
  if (a.empty() || b.empty()) return;
  require(a.data() + a.size() <= b.data() || b.data() + b.size() <= a.data(),
          what + ": buffers overlap");
}

}  // namespace

Pending MemoryParty::local(LocalCall call) {
  const int cluster = layout().cluster_of(rank_);
  const auto me = static_cast<std::size_t>(layout().index_of(rank_));
  auto& slot = grid_.slots_[static_cast<std::size_t>(cluster)][local_calls_++];
  if (!slot) {
    slot = std::make_shared<LocalSlot>();
    slot->what = call.what;
    slot->parts.resize(layout().members(cluster).size());
  }
  require(slot->what == call.what,
          "members started different operations: " + slot->what + " and " + call.what);
  auto& part = slot->parts[me];
  const bool eager = grid_.chance(50);
  part.contribution = call.contribution;
  if (eager) {
    part.copy.assign(call.contribution.begin(), call.contribution.end());
    part.contribution = part.copy;
  }
  part.sizes = std::move(call.sizes);
  part.readers = call.readers;
  part.depth = depth;
  part.joined = true;
  return Pending(std::make_unique<MemoryLocal>(grid_, *this, slot, me, std::move(call.needs),
                                               std::move(call.read), eager));
}

Pending MemoryParty::local_barrier() {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  return local({"barrier", {}, {}, static_cast<int>(n) - 1, up_to(n), {}});
}

Pending MemoryParty::local_bcast(Bytes data, int root) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  const std::string what = "bcast " + std::to_string(root);
  if (layout().index_of(rank_) == root)
    return local({what, data, {}, static_cast<int>(n) - 1, {}, {}});
  return local(
      {what, {}, {}, 0, {static_cast<std::size_t>(root)}, [=](std::size_t, const LocalPart& part) {
         put(part.contribution, data, what);
       }});
}

Pending MemoryParty::local_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes,
                                  int root) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  const std::string what = "gather " + std::to_string(root);
  if (layout().index_of(rank_) != root) return local({what, mine, {}, 1, {}, {}});
  require_apart(mine, all, what);
  require(sizes.size() == n && total(sizes) == all.size(), what + ": the root's sizes are wrong");
  const Sizes offsets = offsets_of(sizes);
  return local({what, mine, {}, 0, up_to(n), [=](std::size_t i, const LocalPart& part) {
                  put(part.contribution, all.subspan(offsets[i], offsets[i + 1] - offsets[i]),
                      what);
                }});
}

Pending MemoryParty::local_scatter(ConstBytes all, std::span<const std::size_t> sizes, Bytes mine,
                                   int root) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  const auto me = static_cast<std::size_t>(layout().index_of(rank_));
  const std::string what = "scatter " + std::to_string(root);
  const auto read = [=](std::size_t, const LocalPart& part) {
    const Sizes offsets = offsets_of(part.sizes);
    put(part.contribution.subspan(offsets[me], part.sizes[me]), mine, what);
  };
  if (layout().index_of(rank_) != root) {
    return local({what, {}, {}, 0, {static_cast<std::size_t>(root)}, read});
  }
  require_apart(all, mine, what);
  require(sizes.size() == n && total(sizes) == all.size(), what + ": the root's sizes are wrong");
  return local({what, all, {sizes.begin(), sizes.end()}, static_cast<int>(n) - 1, {me}, read});
}

Pending MemoryParty::local_allgather(ConstBytes mine, Bytes all,
                                     std::span<const std::size_t> sizes) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  require_apart(mine, all, "allgather");
  require(sizes.size() == n && total(sizes) == all.size(), "allgather: sizes are wrong");
  const Sizes offsets = offsets_of(sizes);
  return local({"allgather",
                mine,
                {},
                static_cast<int>(n) - 1,
                up_to(n),
                [=](std::size_t i, const LocalPart& part) {
                  put(part.contribution, all.subspan(offsets[i], offsets[i + 1] - offsets[i]),
                      "allgather");
                }});
}

Pending MemoryParty::local_alltoall(ConstBytes out, std::span<const std::size_t> out_sizes,
                                    Bytes in, std::span<const std::size_t> in_sizes) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  const auto me = static_cast<std::size_t>(layout().index_of(rank_));
  require_apart(out, in, "alltoall");
  require(out_sizes.size() == n && total(out_sizes) == out.size() && in_sizes.size() == n &&
              total(in_sizes) == in.size(),
          "alltoall: sizes are wrong");
  const Sizes to = offsets_of(in_sizes);
  return local({"alltoall",
                out,
                {out_sizes.begin(), out_sizes.end()},
                static_cast<int>(n) - 1,
                up_to(n),
                [=](std::size_t i, const LocalPart& part) {
                  const Sizes from = offsets_of(part.sizes);
                  put(part.contribution.subspan(from[me], part.sizes[me]),
                      in.subspan(to[i], to[i + 1] - to[i]), "alltoall");
                }});
}

Pending MemoryParty::local_reduce(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                                  int root) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  const std::string what = "reduce " + std::to_string(root) + " of " + std::to_string(count);
  require(in.size() == reduction.packed_size(count), what + ": wrong size");
  if (layout().index_of(rank_) != root) return local({what, in, {}, 1, {}, {}});
  require_apart(in, out, what);
  require(in.size() == out.size(), what + ": wrong size at the root");
  auto order = up_to(n);
  std::reverse(order.begin(), order.end());
  return local({what, in, {}, 0, order, [=, &reduction](std::size_t i, const LocalPart& part) {
                  if (i == n - 1) {
                    put(part.contribution, out, what);
                  } else {
                    reduction.combine(part.contribution, out, count);
                  }
                }});
}

Pending MemoryParty::local_scan(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  const auto n = layout().members(layout().cluster_of(rank_)).size();
  const auto me = static_cast<std::size_t>(layout().index_of(rank_));
  require_apart(in, out, "scan");
  require(in.size() == out.size() && in.size() == reduction.packed_size(count), "scan: wrong size");
  auto order = up_to(me + 1);
  std::reverse(order.begin(), order.end());
  return local({"scan",
                in,
                {},
                static_cast<int>(n - me) - 1,
                order,
                [=, &reduction](std::size_t i, const LocalPart& part) {
                  if (i == me) {
                    put(part.contribution, out, "scan");
                  } else {
                    reduction.combine(part.contribution, out, count);
                  }
                }});
}

}  // namespace isthmus::coll
