#include "coll/patterns/halving.hpp"

#include <algorithm>
#include <deque>

#include "coll/engine/buffer.hpp"
#include "coll/engine/network.hpp"
#include "coll/engine/phases.hpp"
#include "coll/engine/segments.hpp"

namespace isthmus::coll {
namespace {

// Open MPI 4.1 runs an exchange of long messages by TCP between two processes one after the other:
// 16 MB each way took 2.68 s, in pieces of 64 KiB 1.36 (links of 100 Mbit/s, 2026-11).
constexpr std::size_t kPiece = 65536;
constexpr std::size_t kPiecesAtATime = 16;

/// The piece size between this rank and `other`. On one host, and between clusters, messages are
/// whole.
std::size_t piece_for(const Party& party, int other, std::size_t bytes) {
  const bool here = party.layout().cluster_of(other) == my_cluster(party);
  return here && !party.network().one_host ? kPiece : bytes;
}

void cut(Bytes run, std::size_t piece, std::vector<Bytes>& pieces) {
  const Segments segments(run.size(), piece);
  for (std::size_t k = 0; k < segments.count(); ++k) pieces.push_back(segments.of(run, k));
}

std::size_t place_of(std::span<const int> ranks, int rank) {
  return static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

std::size_t place_of(const std::vector<Share>& shares, int rank) {
  return static_cast<std::size_t>(
      std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.rank == rank; }) -
      shares.begin());
}

}  // namespace

Task gather_by_doubling(Party& party, std::vector<Share> shares, Bytes data, int tag) {
  const std::size_t size = shares.size();
  const std::size_t me = place_of(shares, party.rank());
  // The parts begin, begin + 1, ... of the ring, `number` of them: at most two runs of memory.
  const auto runs = [&](std::size_t begin, std::size_t number) {
    std::vector<Bytes> found;
    const std::size_t end = std::min(begin + number, size);
    const auto add = [&](std::size_t a, std::size_t b) {
      if (a == b) return;
      const Bytes run = data.subspan(shares[a].first, shares[b - 1].last - shares[a].first);
      if (!run.empty()) found.push_back(run);
    };
    add(begin, end);
    add(0, begin + number - end);
    return found;
  };
  for (std::size_t held = 1; held < size; held *= 2) {
    const std::size_t number = std::min(held, size - held);
    const int source = shares[(me + held) % size].rank;
    const int target = shares[(me + size - held) % size].rank;
    std::vector<Bytes> in, out;
    for (const Bytes run : runs((me + held) % size, number)) {
      cut(run, piece_for(party, source, run.size()), in);
    }
    for (const Bytes run : runs(me, number)) cut(run, piece_for(party, target, run.size()), out);
    std::deque<Pending> coming, going;
    for (std::size_t k = 0, begun = 0; k < std::max(in.size(), out.size()); ++k) {
      for (; begun < k + kPiecesAtATime; ++begun) {
        if (begun < in.size()) coming.push_back(party.recv(source, tag, in[begun]));
        if (begun < out.size()) going.push_back(party.send(target, tag, out[begun]));
      }
      if (k < in.size()) {
        co_await coming.front();
        coming.pop_front();
      }
      if (k < out.size()) {
        co_await going.front();
        going.pop_front();
      }
    }
  }
}

namespace {

/// The participants of the halving: a power of two. If the list is longer, its first ranks hand
/// their operands to their right neighbours.
struct Halving {
  std::size_t power, excess;
  explicit Halving(std::size_t size) : power(std::bit_floor(size)), excess(size - power) {}
  /// Place in the list of participant v.
  std::size_t place(std::size_t v) const { return v < excess ? 2 * v + 1 : v + excess; }
  bool hands_over(std::size_t place_in_list) const {
    return place_in_list < 2 * excess && place_in_list % 2 == 0;
  }
  std::size_t participant(std::size_t place_in_list) const {
    return place_in_list < 2 * excess ? place_in_list / 2 : place_in_list - excess;
  }
};

struct Range {
  std::size_t first, last;
};

/// Splits `range` for the step of `distance`: the part that participant v keeps, and its partner's.
void halve(std::size_t v, std::size_t distance, Range& kept, Range& given) {
  const std::size_t middle = kept.first + (kept.last - kept.first) / 2;
  given = kept;
  if ((v & distance) == 0) {
    kept.last = given.first = middle;
  } else {
    kept.first = given.last = middle;
  }
}

/// `mine` combined with the partner's operands for it, which come first in their order or last;
/// `theirs` goes to the partner. Either may be empty.
Task combine_with(Party& party, int partner, bool comes_first, Bytes mine, ConstBytes theirs,
                  Reduction& reduction, int tag) {
  const std::size_t unit = reduction.packed_size(1);
  const auto cut_of = [&](std::size_t bytes) {
    const std::size_t piece = piece_for(party, partner, bytes) / unit * unit;
    return Segments(bytes, std::max(piece, unit));
  };
  const Segments in = cut_of(mine.size()), out = cut_of(theirs.size());
  const std::size_t place = in.count() > 0 ? in.size(0) : 0;
  Buffer arrived(place * std::min(in.count(), kPiecesAtATime));
  const auto operand = [&](std::size_t k) {
    return arrived.part(k % kPiecesAtATime * place, in.size(k));
  };
  std::deque<Pending> coming, going;
  for (std::size_t k = 0, begun = 0; k < std::max(in.count(), out.count()); ++k) {
    for (; begun < k + kPiecesAtATime; ++begun) {
      if (begun < in.count()) coming.push_back(party.recv(partner, tag, operand(begun)));
      if (begun < out.count()) going.push_back(party.send(partner, tag, out.of(theirs, begun)));
    }
    if (k < in.count()) {
      co_await coming.front();
      coming.pop_front();
      const Bytes piece = in.of(mine, k);
      if (comes_first) {
        reduction.combine(operand(k), piece, piece.size() / unit);
      } else {
        reduction.combine(piece, operand(k), piece.size() / unit);
        copy(operand(k), piece);
      }
    }
    if (k < out.count()) {
      co_await going.front();
      going.pop_front();
    }
  }
}

}  // namespace

std::vector<Share> shares_after_reduce(std::span<const int> ranks, std::size_t count,
                                       std::size_t unit) {
  const Halving halving(ranks.size());
  std::vector<Share> shares;
  for (std::size_t v = 0; v < halving.power; ++v) {
    Range kept{0, count}, given{};
    for (std::size_t d = 1; d < halving.power; d *= 2) halve(v, d, kept, given);
    shares.push_back({ranks[halving.place(v)], kept.first * unit, kept.last * unit});
  }
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::pair(a.first, a.last) < std::pair(b.first, b.last);
  });
  return shares;
}

Task reduce_by_halving(Party& party, std::vector<int> ranks, Bytes vector, std::size_t count,
                       Reduction& reduction, int tag) {
  const std::size_t unit = reduction.packed_size(1);
  const Halving halving(ranks.size());
  const std::size_t me = place_of(ranks, party.rank());
  const Bytes nothing;
  if (halving.hands_over(me)) {
    co_await combine_with(party, ranks[me + 1], false, nothing, vector, reduction, tag);
    co_return;
  }
  if (me < 2 * halving.excess) {
    co_await combine_with(party, ranks[me - 1], true, vector, nothing, reduction, tag);
  }
  const std::size_t v = halving.participant(me);
  Range kept{0, count}, given{};
  for (std::size_t d = 1; d < halving.power; d *= 2) {
    halve(v, d, kept, given);
    const int partner = ranks[halving.place(v ^ d)];
    const Bytes mine = vector.subspan(kept.first * unit, (kept.last - kept.first) * unit);
    const Bytes theirs = vector.subspan(given.first * unit, (given.last - given.first) * unit);
    co_await combine_with(party, partner, (v & d) != 0, mine, theirs, reduction, tag);
  }
}

Task gather_shares(Party& party, std::vector<int> ranks, std::vector<Share> shares, Bytes vector,
                   int tag) {
  const auto parts = even_shares(ranks, vector.size(), 1);
  // Some ranks hold nothing yet if the number of ranks is not a power of two.
  if (shares.size() < ranks.size()) {
    co_await redistribute(party, vector, shares, parts, tag);
    shares = parts;
  }
  co_await gather_by_doubling(party, shares, vector, tag);
}

}  // namespace isthmus::coll
