#include "coll/pairwise.hpp"

namespace isthmus::coll {
namespace {

// Enough to keep a link of 10 Gbit/s busy over 100 us, and 10 ms of one of 100 Mbit/s.
constexpr std::size_t kBytes = 128 << 10, kLeast = 2, kMost = 64;

}  // namespace

void FewSends::add(Pending send, std::size_t bytes) {
  sends_.push_back({std::move(send), bytes});
  bytes_ += bytes;
}

bool FewSends::room() const {
  return sends_.size() < kLeast || (bytes_ < kBytes && sends_.size() < kMost);
}

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
  FewSends sends;
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
