#include "coll/pairwise.hpp"

#include <algorithm>
#include <utility>

namespace isthmus::coll {
namespace {

// What a link carries in 5 ms may be queued before it. More makes TCP's connections to other
// clusters think that their path is full (scatter of 256 KiB over links of 100 Mbit/s: 350 ms with
// one message at a time, 500 to 1000 with two or four; November 2026).
constexpr double kQueued = 5e-3;
constexpr double kFewest = 96 << 10, kMostBytes = 8 << 20;
constexpr std::size_t kMost = 64;

// Blocks travel in messages that native libraries send unasked. Asking takes two messages that wait
// behind what links have queued for other clusters (alltoall of 64 KiB over 16 links of 100 Mbit/s:
// 138 ms in one piece, 120 in these; November 2026). Longer blocks go whole: those of more pieces
// than leave a member with kMostPieces receives in all, but kFewPieces are always allowed.
constexpr std::size_t kUnasked = 32 << 10;
constexpr std::size_t kMostPieces = 1024, kFewPieces = 8;

/// Calls each(offset, size) for the messages of a block between two of so many members.
template <class Each>
void cut(std::size_t size, std::size_t members, Each&& each) {
  const std::size_t pieces = std::max(kMostPieces / members, kFewPieces);
  const std::size_t most = size > pieces * kUnasked ? size : kUnasked;
  for (std::size_t at = 0; at < size; at += most) each(at, std::min(most, size - at));
}

}  // namespace

FewSends::FewSends(const Network& network)
    : limit_(static_cast<std::size_t>(
          std::clamp(network.link_bandwidth * kQueued, kFewest, kMostBytes))) {}

void FewSends::add(Pending send, std::size_t bytes) {
  sends_.push_back({std::move(send), bytes});
  bytes_ += bytes;
}

bool FewSends::room() const { return sends_.empty() || (bytes_ < limit_ && sends_.size() < kMost); }

void FewSends::drop_oldest() {
  bytes_ -= sends_.front().bytes;
  sends_.erase(sends_.begin());
}

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
  const auto members = party.layout().members(my_cluster(party));
  const auto me = static_cast<std::size_t>(my_index(party));
  FewSends sends(party.network());
  std::vector<std::pair<int, ConstBytes>> messages;
  for (std::size_t step = 1; step < members.size(); ++step) {
    const std::size_t to = (me + step) % members.size();
    cut(data[to].size(), members.size(), [&](std::size_t at, std::size_t size) {
      messages.emplace_back(members[to], data[to].subspan(at, size));
    });
  }
  for (const auto& [to, bytes] : messages) {
    while (!sends.room()) {
      co_await sends.oldest();
      sends.drop_oldest();
    }
    sends.add(party.send(to, tag, bytes), bytes.size());
  }
  while (!sends.empty()) {
    co_await sends.oldest();
    sends.drop_oldest();
  }
}

}  // namespace isthmus::coll
