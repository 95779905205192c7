#include "coll/patterns/pairwise.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "coll/engine/concurrent.hpp"
#include "coll/engine/looks.hpp"
#include "coll/engine/network.hpp"

namespace isthmus::coll {
namespace {

// At most the bytes that a link carries in 5 ms are queued on it: messages to other clusters go
// first, and a longer queue looks to TCP's connections there like a full path. Only synchronous
// sends allow this count (scatter of 64 and 256 KiB over links of 100 Mbit/s: 82.3 and 330 ms, 92.6
// and 340 with all at once; November 2026). If all members send, counting makes them wait for each
// other (alltoall of 256 KiB: 362 ms at once, 420 with counting).
constexpr double kQueued = 5e-3;
constexpr double kFewest = 96 << 10, kMostQueued = 8 << 20;

// Blocks travel in messages that native libraries send eagerly. A rendezvous takes two messages,
// which wait behind a link's queue for other clusters (alltoall of 64 KiB over 16 links of 100
// Mbit/s: 138 ms in one piece, 120 in these; November 2026). Longer blocks go whole if their pieces
// would give a member more than kMostPieces receives in all, but kFewPieces are always allowed.
constexpr std::size_t kUnasked = 32 << 10;
constexpr std::size_t kMostPieces = 1024, kFewPieces = 8;

/// Calls each(offset, size) for the messages of a block between two of `members` members.
template <class Each>
void cut(std::size_t size, std::size_t members, Each&& each) {
  const std::size_t pieces = std::max(kMostPieces / members, kFewPieces);
  const std::size_t most = size > pieces * kUnasked ? size : kUnasked;
  for (std::size_t at = 0; at < size; at += most) each(at, std::min(most, size - at));
}

/// To the other members, the next one first.
std::vector<std::pair<int, ConstBytes>> messages_to_members(const Party& party,
                                                            const std::vector<ConstBytes>& data) {
  const auto members = party.layout().members(my_cluster(party));
  const auto me = static_cast<std::size_t>(my_index(party));
  std::vector<std::pair<int, ConstBytes>> messages;
  for (std::size_t step = 1; step < members.size(); ++step) {
    const std::size_t to = (me + step) % members.size();
    cut(data[to].size(), members.size(), [&](std::size_t at, std::size_t size) {
      messages.emplace_back(members[to], data[to].subspan(at, size));
    });
  }
  return messages;
}

}  // namespace

void receive_from_member(Party& party, int rank, Bytes place, int tag,
                         std::vector<Pending>& arrivals) {
  const std::size_t members = party.layout().members(my_cluster(party)).size();
  cut(place.size(), members, [&](std::size_t at, std::size_t size) {
    arrivals.push_back(party.recv(rank, tag, place.subspan(at, size)));
  });
}

std::vector<Pending> receive_from_members(Party& party, const std::vector<Bytes>& places, int tag) {
  const auto members = party.layout().members(my_cluster(party));
  const auto me = static_cast<std::size_t>(my_index(party));
  std::vector<Pending> arrivals;
  for (std::size_t step = 1; step < members.size(); ++step) {
    const std::size_t from = (me + members.size() - step) % members.size();
    receive_from_member(party, members[from], places[from], tag, arrivals);
  }
  return arrivals;
}

Task send_to_members(Party& party, std::vector<ConstBytes> data, int tag) {
  std::vector<Pending> sends;
  for (const auto& [to, bytes] : messages_to_members(party, data)) {
    sends.push_back(party.send(to, tag, bytes));
  }
  for (auto& p : sends) co_await p;
}

Task send_by_turns(Party& party, std::vector<ConstBytes> data, int tag) {
  const auto limit = static_cast<std::size_t>(
      std::clamp(party.network().link_bandwidth * kQueued, kFewest, kMostQueued));
  const auto messages = messages_to_members(party, data);
  std::deque<std::pair<Pending, std::size_t>> sends;
  std::size_t queued = 0;
  for (const auto& [to, bytes] : messages) {
    Pending turn = until([&, size = bytes.size()] {
      while (!sends.empty() && sends.front().first.done()) {
        queued -= sends.front().second;
        sends.pop_front();
      }
      return queued < limit + between_looks(party, messages.size()) * size;
    });
    co_await turn;
    sends.emplace_back(party.send_synchronous(to, tag, bytes), bytes.size());
    queued += bytes.size();
  }
  for (auto& [send, size] : sends) co_await send;
}

}  // namespace isthmus::coll
