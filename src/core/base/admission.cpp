#include "core/base/admission.hpp"

#include <algorithm>
#include <iterator>

namespace isthmus::core {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

}  // namespace

PeerAddress PeerAddress::of_v4(const std::array<std::uint8_t, 4>& address) {
  PeerAddress mapped;
  std::copy(kMapped.begin(), kMapped.end(), mapped.bytes.begin());
  std::copy(address.begin(), address.end(), mapped.bytes.begin() + kMapped.size());
  return mapped;
}

PeerAddress PeerAddress::of_v6(const std::array<std::uint8_t, 16>& address) {
  return {.bytes = address};
}

bool PeerAddress::is_v4() const {
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

PeerAddress PeerAddress::prefix(std::size_t bytes_kept) const {
  PeerAddress prefix;
  std::copy_n(bytes.begin(), bytes_kept, prefix.bytes.begin());
  return prefix;
}

Admission::Admission(const Limits& limits, std::uint64_t seed)
    : limits_(limits), random_(static_cast<std::minstd_rand::result_type>(seed)) {}

Admission::Admitted Admission::arrives(const PeerAddress& from) {
  Pool& pool = proofs_.contains(from.network()) ? known_ : strangers_;
  Admitted admitted{++last_, std::nullopt};
  if (const auto network = crowded(pool, from)) {
    const std::vector<Ticket>& waiting = pool.of_network.at(*network);
    admitted.dropped = waiting[random_() % waiting.size()];
    remove(*admitted.dropped);
    ++dropped_;
  }
  pool.of_network[from.network()].push_back(admitted.ticket);
  ++pool.of_site[from.site()];
  ++pool.size;
  places_.emplace(admitted.ticket, Place{&pool, from});
  return admitted;
}

std::optional<PeerAddress> Admission::crowded(const Pool& pool, const PeerAddress& from) {
  // Each of the equally crowded networks is as likely: the n-th of them wins once in n times.
  const auto most_crowded = [this](auto first, auto last) {
    auto found = first;
    std::size_t equal = 1;
    for (auto each = std::next(first); each != last; ++each) {
      if (each->second.size() < found->second.size()) continue;
      equal = each->second.size() > found->second.size() ? 1 : equal + 1;
      if (random_() % equal == 0) found = each;
    }
    return found->first;
  };
  const auto own = pool.of_network.find(from.network());
  if (own != pool.of_network.end() && own->second.size() >= limits_.of_network) return own->first;
  const auto site = pool.of_site.find(from.site());
  if (site != pool.of_site.end() && site->second >= limits_.of_site) {
    // A site's networks lie side by side.
    const auto first = pool.of_network.lower_bound(from.site());
    const auto last = std::find_if(first, pool.of_network.end(), [&](const auto& network) {
      return network.first.site() != from.site();
    });
    return most_crowded(first, last);
  }
  if (pool.size < limits_.total) return std::nullopt;
  return most_crowded(pool.of_network.begin(), pool.of_network.end());
}

void Admission::proved(Ticket ticket) {
  const auto place = places_.find(ticket);
  if (place == places_.end()) return;
  remember(place->second.from.network());
  remove(ticket);
}

void Admission::left(Ticket ticket) {
  if (places_.contains(ticket)) remove(ticket);
}

void Admission::remove(Ticket ticket) {
  const auto place = places_.find(ticket);
  Pool& pool = *place->second.pool;
  const PeerAddress from = place->second.from;
  const auto network = pool.of_network.find(from.network());
  std::erase(network->second, ticket);
  if (network->second.empty()) pool.of_network.erase(network);
  const auto site = pool.of_site.find(from.site());
  if (--site->second == 0) pool.of_site.erase(site);
  --pool.size;
  places_.erase(place);
}

void Admission::remember(const PeerAddress& network) {
  proofs_[network] = ++last_proof_;
  if (proofs_.size() <= limits_.remembered) return;
  proofs_.erase(std::min_element(
      proofs_.begin(), proofs_.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; }));
}

}  // namespace isthmus::core
