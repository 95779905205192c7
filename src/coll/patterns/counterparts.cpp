#include "coll/patterns/counterparts.hpp"

#include <algorithm>

namespace isthmus::coll {

int matched_senders(const Layout& layout, int wanted) {
  std::size_t least = layout.members(0).size();
  for (int c = 1; c < layout.clusters(); ++c) least = std::min(least, layout.members(c).size());
  const int most = static_cast<int>(least);
  return wanted <= 0 ? most : std::min(wanted, most);
}

std::vector<Share> sender_shares(const std::vector<Share>& shares, int senders, std::size_t bytes,
                                 std::size_t unit) {
  const auto parts = std::min(static_cast<std::size_t>(senders), shares.size());
  const auto cut = even_cut(bytes, parts, unit);
  std::vector<Share> chosen;
  chosen.reserve(parts);
  for (std::size_t s = 0; s < parts; ++s) {
    chosen.push_back({shares[s * shares.size() / parts].rank, cut[s], cut[s + 1]});
  }
  return chosen;
}

double planning(const Setting& setting) {
  // Broadcasts took 36 ns for each share, allreduces 200 (10,240 ranks in ten clusters, simulated
  // on a busy core; 2026-11).
  constexpr double kOfShare = 100e-9;
  return kOfShare * setting.layout.size();
}

}  // namespace isthmus::coll
