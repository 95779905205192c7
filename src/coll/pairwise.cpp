#include "coll/pairwise.hpp"

#include <algorithm>

namespace isthmus::coll {
namespace {

// What a link carries in 5 ms may be queued before it. More makes TCP's connections to other
// clusters think that their path is full (scatter of 256 KiB over links of 100 Mbit/s: 350 ms with
// one message at a time, 500 to 1000 with two or four; November 2026).
constexpr double kQueued = 5e-3;
constexpr double kFewest = 64 << 10, kMostBytes = 8 << 20;
constexpr std::size_t kMost = 64;

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

std::vector<Pending> receive_from_members(Party& party, const std::vector<Bytes>& places, int tag) {
  const auto members = party.layout().members(my_cluster(party));
  const auto me = static_cast<std::size_t>(my_index(party));
  std::vector<Pending> arrivals;
  for (std::size_t step = 1; step < members.size(); ++step) {
    const std::size_t from = (me + members.size() - step) % members.size();
    if (!places[from].empty()) arrivals.push_back(party.recv(members[from], tag, places[from]));
  }
  return arrivals;
}

Task send_to_members(Party& party, std::vector<ConstBytes> data, int tag) {
  const auto members = party.layout().members(my_cluster(party));
  const auto me = static_cast<std::size_t>(my_index(party));
  FewSends sends(party.network());
  for (std::size_t step = 1; step < members.size(); ++step) {
    const std::size_t to = (me + step) % members.size();
    if (data[to].empty()) continue;
    while (!sends.room()) {
      co_await sends.oldest();
      sends.drop_oldest();
    }
    sends.add(party.send(members[to], tag, data[to]), data[to].size());
  }
  while (!sends.empty()) {
    co_await sends.oldest();
    sends.drop_oldest();
  }
}

}  // namespace isthmus::coll
