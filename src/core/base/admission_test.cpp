#include "core/base/admission.hpp"

#include <gtest/gtest.h>

#include <set>

namespace isthmus::core {
namespace {

using Ticket = Admission::Ticket;

constexpr Admission::Limits kFewPlaces{
    .total = 64, .of_network = 16, .of_site = 32, .remembered = 4};
constexpr std::uint64_t kSeed = 20261128;

PeerAddress v4(std::uint8_t third, std::uint8_t last) {
  return PeerAddress::of_v4({192, 0, third, last});
}

/// Of 2001:db8:SITE:NETWORK::HOST.
PeerAddress v6(std::uint8_t site, std::uint8_t network, std::uint8_t host) {
  return PeerAddress::of_v6({0x20, 1, 0xd, 0xb8, 0, site, 0, network, 0, 0, 0, 0, 0, 0, 0, host});
}

/// The connections that are at the door.
class Door {
 public:
  Ticket arrives(const PeerAddress& from) {
    const auto admitted = admission.arrives(from);
    EXPECT_NE(admitted.dropped, admitted.ticket);
    if (admitted.dropped) {
      EXPECT_EQ(here.erase(*admitted.dropped), 1U);
    }
    here.insert(admitted.ticket);
    EXPECT_EQ(admission.waiting(), here.size());
    return admitted.ticket;
  }
  bool has(Ticket ticket) const { return here.contains(ticket); }
  void proves(Ticket ticket) {
    admission.proved(ticket);
    here.erase(ticket);
  }
  void leaves(Ticket ticket) {
    admission.left(ticket);
    here.erase(ticket);
  }

  Admission admission{kFewPlaces, kSeed};
  std::set<Ticket> here;
};

TEST(Admission, DropsNobodyWithinTheLimits) {
  Door door;
  for (std::uint8_t network = 0; network < 4; ++network) {
    for (std::size_t i = 0; i < kFewPlaces.of_network; ++i) door.arrives(v4(0, network));
  }
  EXPECT_EQ(door.here.size(), kFewPlaces.total);
  EXPECT_EQ(door.admission.dropped(), 0U);
}

TEST(Admission, AnAddressBeyondItsLimitDropsItsOwn) {
  Door door;
  const Ticket other = door.arrives(v4(0, 1));
  for (int i = 0; i < 5000; ++i) door.arrives(v4(0, 2));
  EXPECT_TRUE(door.has(other));
  EXPECT_EQ(door.here.size(), kFewPlaces.of_network + 1);
}

TEST(Admission, AFullDoorDropsFromTheMostCrowdedAddress) {
  Door door;
  for (int i = 0; i < 5000; ++i) door.arrives(v4(1, static_cast<std::uint8_t>(i % 20)));
  ASSERT_EQ(door.here.size(), kFewPlaces.total);
  const Ticket alone = door.arrives(v4(0, 1));
  for (int i = 0; i < 5000; ++i) door.arrives(v4(1, static_cast<std::uint8_t>(i % 20)));
  EXPECT_TRUE(door.has(alone));
  EXPECT_EQ(door.here.size(), kFewPlaces.total);
}

// The order of addresses must protect nobody, and doom nobody.
TEST(Admission, OfManyAddressesWithOneConnectionAnyGivesWay) {
  for (const std::uint8_t third : {0, 255}) {
    Door door;
    const PeerAddress mine = v4(third, 1);
    Ticket ticket = door.arrives(mine);
    int dropped = 0;
    for (std::size_t i = 0; i < 4 * kFewPlaces.total; ++i) {
      door.arrives(v4(static_cast<std::uint8_t>(1 + i / 250), static_cast<std::uint8_t>(i % 250)));
      if (i < kFewPlaces.total || door.has(ticket)) continue;
      ++dropped;
      ticket = door.arrives(mine);
    }
    EXPECT_GT(dropped, 0) << int{third};
    EXPECT_LT(dropped, 20) << int{third};
  }
}

// Behind one address translator: some of the tries go through, even in a flood.
TEST(Admission, OneOfACrowdedAddressOftenSurvivesAWhile) {
  Door door;
  const PeerAddress shared = v4(0, 1);
  int survived = 0;
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const Ticket mine = door.arrives(shared);
    for (std::size_t others = 0; others < kFewPlaces.of_network / 2; ++others) door.arrives(shared);
    if (door.has(mine)) ++survived;
    door.leaves(mine);
  }
  EXPECT_GT(survived, kTries / 2);  // about exp(-1/2)
}

TEST(Admission, ANetworkOfIPv6CountsAsOneAddress) {
  Door door;
  for (int i = 0; i < 255; ++i) door.arrives(v6(1, 1, static_cast<std::uint8_t>(i)));
  EXPECT_EQ(door.here.size(), kFewPlaces.of_network);
}

TEST(Admission, ASiteOfIPv6HasALimit) {
  Door door;
  const Ticket neighbour = door.arrives(v6(2, 1, 1));
  for (int i = 0; i < 255; ++i) {
    const auto network = static_cast<std::uint8_t>(i);
    for (std::uint8_t host = 0; host < 3; ++host) door.arrives(v6(1, network, host));
  }
  EXPECT_EQ(door.here.size(), kFewPlaces.of_site + 1);
  EXPECT_TRUE(door.has(neighbour));
}

TEST(Admission, WhoHasProvedItselfHasPlacesApartFromStrangers) {
  Door door;
  const PeerAddress friendly = v4(0, 1);
  door.proves(door.arrives(friendly));
  const Ticket again = door.arrives(friendly);
  for (int i = 0; i < 5000; ++i) door.arrives(v4(1, static_cast<std::uint8_t>(i % 200)));
  EXPECT_TRUE(door.has(again));
  EXPECT_EQ(door.here.size(), kFewPlaces.total + 1);
  // They are limited, too.
  for (int i = 0; i < 5000; ++i) door.arrives(friendly);
  EXPECT_EQ(door.here.size(), kFewPlaces.total + kFewPlaces.of_network);
}

TEST(Admission, TheLatestProofsAreRemembered) {
  Door door;
  const auto is_known = [&](const PeerAddress& address) {
    // A known address comes beside a door that is full of strangers.
    for (int i = 0; i < 200; ++i) door.arrives(v4(9, static_cast<std::uint8_t>(i)));
    const std::size_t before = door.here.size();
    const Ticket ticket = door.arrives(address);
    const bool beside = door.here.size() > before;
    door.leaves(ticket);
    return beside;
  };
  for (std::uint8_t i = 1; i <= 5; ++i) door.proves(door.arrives(v4(0, i)));
  EXPECT_FALSE(is_known(v4(0, 1)));
  EXPECT_TRUE(is_known(v4(0, 2)));
  EXPECT_TRUE(is_known(v4(0, 5)));
}

TEST(Admission, PlacesAreFreeAgain) {
  Door door;
  for (int round = 0; round < 100; ++round) {
    std::vector<Ticket> tickets;
    for (std::size_t i = 0; i < kFewPlaces.of_network; ++i)
      tickets.push_back(door.arrives(v4(0, 1)));
    for (const Ticket ticket : tickets) {
      door.leaves(ticket);
      door.leaves(ticket);  // void now
    }
  }
  EXPECT_EQ(door.admission.dropped(), 0U);
  EXPECT_EQ(door.admission.waiting(), 0U);
}

}  // namespace
}  // namespace isthmus::core
