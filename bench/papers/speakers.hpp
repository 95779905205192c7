// The members of each cluster that speak with the other clusters, n of each (Matsuda et al.,
// CLUSTER 2006, sections 2.4 and 2.5). The other members hand them their data in segments, and get
// the results in segments. So some segments are handed in while others cross or are handed out.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "coll/engine/algorithm.hpp"
#include "coll/engine/segment_size.hpp"
#include "coll/patterns/share.hpp"

namespace isthmus::coll {

inline std::vector<int> list_of(std::span<const int> ranks) { return {ranks.begin(), ranks.end()}; }

/// The number of senders in every cluster: `wanted`, or the most possible. If clusters differ, the
/// smallest limits it.
int matched_senders(const Layout& layout, int wanted);

/// The vector in `senders` nearly equal parts, at as many of the ranks of `shares`, evenly chosen.
/// If all ranks send, each keeps about its own share. `shares` are in the order of the vector.
std::vector<Share> sender_shares(const std::vector<Share>& shares, int senders, std::size_t bytes,
                                 std::size_t unit);

/// One of them: the part that it carries across, and the part that it has without being handed it.
struct Speaker {
  Share carries, has;
  int rank() const { return carries.rank; }
};

/// The ranks of `carried`; each has its part of `shares`.
std::vector<Speaker> speakers_with(const std::vector<Share>& carried,
                                   const std::vector<Share>& shares);

/// Segments are of `segment` bytes, counted from the beginning of a speaker's interval.
struct Cut {
  std::size_t first, last, segment;
  explicit Cut(const Share& carried, std::size_t segment_)
      : first(carried.first), last(carried.last), segment(std::max<std::size_t>(segment_, 1)) {}
  std::size_t count() const { return (last - first + segment - 1) / segment; }
  std::size_t begin(std::size_t k) const { return first + k * segment; }
  std::size_t end(std::size_t k) const { return std::min(last, begin(k) + segment); }
  std::size_t size(std::size_t k) const { return end(k) - begin(k); }
  /// The segment that a byte is in, or the first one.
  std::size_t at(std::size_t byte) const { return byte < first ? 0 : (byte - first) / segment; }
};

/// The bytes of first..last-1 that a member and a speaker must hand each other. Calls each(first,
/// last) for every run of the member's share that the speaker does not have, at most two.
template <class Each>
void for_each_run(const Share& share, const Speaker& speaker, std::size_t first, std::size_t last,
                  Each&& each) {
  if (share.rank == speaker.rank()) return;
  const std::size_t begin = std::max(first, share.first);
  const std::size_t end = std::min(last, share.last);
  const Share& has = speaker.has;
  const std::size_t before = has.size() == 0 ? end : std::min(end, has.first);
  if (begin < before) each(begin, before);
  const std::size_t after = has.size() == 0 ? end : std::max(begin, has.last);
  if (after < end) each(after, end);
}

/// A speaker's end: the same for all members. `shares` are in the order of the vector, and cover
/// it.
template <class Each>
void for_each_run(const std::vector<Share>& shares, const Speaker& speaker, std::size_t first,
                  std::size_t last, Each&& each) {
  auto share = std::ranges::upper_bound(shares, first, {}, &Share::last);
  for (; share != shares.end() && share->first < last; ++share) {
    for_each_run(*share, speaker, first, last,
                 [&](std::size_t from, std::size_t to) { each(share->rank, from, to); });
  }
}

/// Segments that a speaker receives, and a member sends, at a time. Enough of them keep the link
/// busy; few of them come in turn.
inline constexpr std::size_t kHandedAtATime = 4;
/// Receives that are posted at a time, and sends under way, if parts are not handed in.
inline constexpr std::size_t kPostedAtATime = 64;

/// A member's end, one task for each speaker. It concerns the part of the member's share that the
/// speaker does not have. In: it goes to the speaker. Out: it comes. InAndOut: it goes, and comes
/// back changed.
enum class Handing { In, Out, InAndOut };
Task hand(Party& party, Bytes vector, Share mine, Speaker speaker, std::size_t segment,
          Handing handing, int tag);

/// The speaker's ends: the receives of the bytes first..last-1 of a segment that members hand in,
/// and the sends of those that it hands out.
std::vector<Pending> expect_handed(Party& party, Bytes vector, const std::vector<Share>& shares,
                                   const Speaker& speaker, std::size_t first, std::size_t last,
                                   int tag);
void hand_out(Party& party, Bytes vector, const std::vector<Share>& shares, const Speaker& speaker,
              std::size_t first, std::size_t last, int tag, std::deque<Pending>& sends);

/// Whether not every member of every cluster is a speaker.
bool handed_on(const Layout& layout, int senders);

/// The time of every rank to find the shares of all ranks in all clusters.
double planning(const Setting& setting);
/// Estimated: the first segment is handed in, and the last one out, without overlap, if any is
/// handed.
double handing_alone(const Setting& setting, int senders, std::size_t segment);

/// `bytes` to each other cluster, shared by `senders` members.
double far_copy(const Setting& setting, std::size_t bytes, int senders);
/// The senders of each cluster: the requested number, or as many as are carried.
int senders_of(const Setting& setting, const Parameters& parameters);
/// The part of each rank after `scatter_by_halving`: the root's first, then in the order of the
/// list, beginning again at its front.
std::vector<Share> shares_after_scatter(std::span<const int> ranks, int root, std::size_t bytes);
/// The root, a rank, has `data`; each rank gets its share. Holders send the further half of their
/// data, again and again.
Task scatter_by_halving(Party& party, std::vector<int> ranks, int root, Bytes data, int tag);

/// The bytes that pass through the rank at `place` of these shares in that scatter; they begin with
/// its own share. For a moment it holds all of them.
Share passed_in_scatter(const std::vector<Share>& shares, std::size_t place);

}  // namespace isthmus::coll
