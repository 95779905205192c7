// Reductions over intercommunicators. Each side reduces for itself, and one of its ranks hands the
// result across. If all ranks there need it, it is spread there.
#include "coll/engine/buffer.hpp"
#include "coll/engine/phases.hpp"
#include "coll/inter/inter.hpp"
#include "coll/inter/members.hpp"
#include "coll/inter/subset.hpp"

namespace isthmus::coll {

Task inter_reduce(Party& party, TwoSides sides, ConstBytes in, Bytes out, std::size_t count,
                  Reduction& reduction, int root) {
  if (root == kNoPart) co_return;
  const int side = 1 - sides.side_of(root);
  const int speaker = speaker_of(party, sides, side, root);
  const int speaks = sides.begin_of(side) + speaker;
  if (party.rank() == root) {
    co_await party.recv(speaks, kTagAcross, out.first(reduction.packed_size(count)));
    co_return;
  }
  const bool speaking = party.rank() == speaks;
  Buffer result(speaking ? reduction.packed_size(count) : 0);
  Subset own(party, members_of(sides, side));
  co_await reduce(own, in, result.bytes(), count, reduction, speaker);
  if (!speaking) co_return;
  co_await party.send(root, kTagAcross, result.bytes());
}

namespace {

/// At the first rank of each side, the reduction of the other's contributions comes into `theirs`.
Task reduce_across(Party& party, TwoSides sides, Subset& own, ConstBytes in, Bytes theirs,
                   std::size_t count, Reduction& reduction) {
  const int side = sides.side_of(party.rank());
  const bool first = own.rank() == 0;
  Buffer ours(first ? reduction.packed_size(count) : 0);
  co_await reduce(own, in, ours.bytes(), count, reduction, 0);
  if (!first) co_return;
  const int there = sides.begin_of(1 - side);
  Pending come = party.recv(there, kTagAcross, theirs);
  Pending given = party.send(there, kTagAcross, ours.bytes());
  co_await come;
  co_await given;
}

}  // namespace

Task inter_allreduce(Party& party, TwoSides sides, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction) {
  Subset own(party, members_of(sides, sides.side_of(party.rank())));
  const Bytes result = out.first(reduction.packed_size(count));
  co_await reduce_across(party, sides, own, in, result, count, reduction);
  co_await bcast(own, result, 0);
}

Task inter_reduce_scatter(Party& party, TwoSides sides, ConstBytes in, Bytes out,
                          std::vector<std::size_t> counts, Reduction& reduction) {
  Subset own(party, members_of(sides, sides.side_of(party.rank())));
  std::size_t count = 0;
  Sizes sizes;
  for (const std::size_t each : counts) {
    count += each;
    sizes.push_back(reduction.packed_size(each));
  }
  const std::size_t bytes = reduction.packed_size(count);
  Buffer result(own.rank() == 0 ? bytes : 0);
  co_await reduce_across(party, sides, own, in, result.bytes(), count, reduction);
  Task scattered = scatter(own, result.bytes(), std::move(sizes), out, 0);
  co_await scattered;
}

}  // namespace isthmus::coll
