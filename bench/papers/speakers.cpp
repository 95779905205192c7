#include "papers/speakers.hpp"

#include "coll/engine/cost.hpp"

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

std::vector<Speaker> speakers_with(const std::vector<Share>& carried,
                                   const std::vector<Share>& shares) {
  std::vector<Speaker> speakers;
  speakers.reserve(carried.size());
  auto share = shares.begin();
  for (const Share& carries : carried) {  // both in the order of the vector
    share =
        std::find_if(share, shares.end(), [&](const Share& s) { return s.rank == carries.rank; });
    speakers.push_back({carries, *share});
  }
  return speakers;
}

Task hand(Party& party, Bytes vector, Share mine, Speaker speaker, std::size_t segment,
          Handing handing, int tag) {
  const Cut cut(speaker.carries, segment);
  std::deque<std::pair<Bytes, Pending>> sent;
  std::deque<Pending> coming;
  for (std::size_t k = cut.at(mine.first); k < cut.count() && cut.begin(k) < mine.last; ++k) {
    std::vector<Bytes> runs;
    for_each_run(mine, speaker, cut.begin(k), cut.end(k), [&](std::size_t from, std::size_t to) {
      runs.push_back(vector.subspan(from, to - from));
    });
    for (const Bytes run : runs) {
      if (handing == Handing::Out) {
        coming.push_back(party.recv(speaker.rank(), tag, run));
      } else {
        sent.emplace_back(run, party.send_synchronous(speaker.rank(), tag, run));
      }
    }
    while (sent.size() > kHandedAtATime) {
      co_await sent.front().second;
      // The result lands in the same memory that its part left from.
      if (handing == Handing::InAndOut) {
        coming.push_back(party.recv(speaker.rank(), tag, sent.front().first));
      }
      sent.pop_front();
    }
    while (handing == Handing::Out && coming.size() > kPostedAtATime) {
      co_await coming.front();
      coming.pop_front();
    }
  }
  for (auto& [run, sending] : sent) {
    co_await sending;
    if (handing == Handing::InAndOut) coming.push_back(party.recv(speaker.rank(), tag, run));
  }
  for (auto& p : coming) co_await p;
}

std::vector<Pending> expect_handed(Party& party, Bytes vector, const std::vector<Share>& shares,
                                   const Speaker& speaker, std::size_t first, std::size_t last,
                                   int tag) {
  std::vector<Pending> coming;
  for_each_run(shares, speaker, first, last, [&](int member, std::size_t from, std::size_t to) {
    coming.push_back(party.recv(member, tag, vector.subspan(from, to - from)));
  });
  return coming;
}

void hand_out(Party& party, Bytes vector, const std::vector<Share>& shares, const Speaker& speaker,
              std::size_t first, std::size_t last, int tag, std::deque<Pending>& sends) {
  for_each_run(shares, speaker, first, last, [&](int member, std::size_t from, std::size_t to) {
    sends.push_back(party.send(member, tag, vector.subspan(from, to - from)));
  });
}

bool handed_on(const Layout& layout, int senders) { return senders < largest_cluster(layout); }

double planning(const Setting& setting) {
  // Broadcasts took 36 ns for each share, allreduces 200 (10,240 ranks in ten clusters, simulated
  // on a busy core; 2026-11).
  constexpr double kOfShare = 100e-9;
  return kOfShare * setting.layout.size();
}

double handing_alone(const Setting& setting, int senders, std::size_t segment) {
  if (!handed_on(setting.layout, senders)) return 0;
  const Network& network = setting.network;
  return 2 * (network.link_latency + network.message_cost + link_time(network, segment));
}

std::vector<Share> shares_after_scatter(std::span<const int> ranks, int root, std::size_t bytes) {
  std::vector<int> order(ranks.begin(), ranks.end());
  std::rotate(order.begin(), std::find(order.begin(), order.end(), root), order.end());
  return even_shares(order, bytes, 1);
}

Task scatter_by_halving(Party& party, std::vector<int> ranks, int root, Bytes data, int tag) {
  const auto shares = shares_after_scatter(ranks, root, data.size());
  const auto mine = std::ranges::find(shares, party.rank(), &Share::rank);
  const auto me = static_cast<std::size_t>(mine - shares.begin());
  std::vector<Pending> sends;
  std::size_t first = 0, last = shares.size();  // the first of these ranks holds the data of all
  while (last - first > 1) {
    const std::size_t middle = first + (last - first + 1) / 2;
    const std::size_t begin = shares[middle].first;
    const Bytes half = data.subspan(begin, shares[last - 1].last - begin);
    if (!half.empty() && me == first) {
      sends.push_back(party.send(shares[middle].rank, tag, half));
      co_await sends.back();
    } else if (!half.empty() && me == middle) {
      co_await party.recv(shares[first].rank, tag, half);
    }
    (me < middle ? last : first) = middle;
  }
}

Share passed_in_scatter(const std::vector<Share>& shares, std::size_t place) {
  std::size_t first = 0, last = shares.size();
  while (first != place) {
    const std::size_t middle = first + (last - first + 1) / 2;
    (place < middle ? last : first) = middle;
  }
  return {shares[place].rank, shares[first].first, shares[last - 1].last};
}

double far_copy(const Setting& setting, std::size_t bytes, int senders) {
  const int others = setting.layout.clusters() - 1;
  if (others == 0) return 0;
  const Network& network = setting.network;
  const double size = static_cast<double>(bytes);
  const double wires = size / wan_rate(network, senders);
  const double links = size * others / (senders * network.link_bandwidth);
  return network.wan_latency + detours(setting, bytes) + network.message_cost * others +
         std::max(wires, links);
}

int senders_of(const Setting& setting, const Parameters& parameters) {
  const int most = smallest_cluster(setting.layout);
  return parameters.senders > 0 ? std::min(parameters.senders, most)
                                : carried_senders(setting.layout, setting.network);
}

}  // namespace isthmus::coll
