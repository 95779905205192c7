// Decides which connections may wait at a door before they have proved who they are, and which one
// is dropped if they are too many. A newcomer is always admitted, so waiting connections cannot
// block a door. To make room, one of the address with the most connections is dropped, at random
// (OpenSSH's MaxStartups drops at random, too). Among addresses with equally many, chance decides.
// Pure: no sockets, no clock. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

namespace isthmus::core {

/// The origin of a connection: an IPv6 address, or an IPv4 address in its mapped form.
struct PeerAddress {
  std::array<std::uint8_t, 16> bytes{};

  static PeerAddress of_v4(const std::array<std::uint8_t, 4>& address);
  static PeerAddress of_v6(const std::array<std::uint8_t, 16>& address);
  /// The addresses of one host: the IPv4 address, or the IPv6 /64.
  PeerAddress network() const { return is_v4() ? *this : prefix(8); }
  /// The addresses of one customer of a provider: the IPv4 address, or the IPv6 /48.
  PeerAddress site() const { return is_v4() ? *this : prefix(6); }
  auto operator<=>(const PeerAddress&) const = default;

 private:
  bool is_v4() const;
  PeerAddress prefix(std::size_t bytes_kept) const;
};

class Admission {
 public:
  /// Connections that have not proved who they are, at a time.
  struct Limits {
    std::size_t total = 2048;       ///< from all addresses
    std::size_t of_network = 512;   ///< from one of PeerAddress::network()
    std::size_t of_site = 1024;     ///< from one of PeerAddress::site()
    std::size_t remembered = 4096;  ///< networks from which a proof has come, the latest
  };
  using Ticket = std::uint64_t;
  struct Admitted {
    Ticket ticket;                  ///< of the newcomer
    std::optional<Ticket> dropped;  ///< the caller closes this one; the ticket is void
  };

  Admission(const Limits& limits, std::uint64_t seed);

  Admitted arrives(const PeerAddress& from);
  /// It has proved who it is, and is not counted any more. Its network has places of its own from
  /// now on: the same limits, apart from strangers.
  void proved(Ticket ticket);
  /// It is gone, or was turned down. Void tickets are ignored.
  void left(Ticket ticket);

  std::size_t waiting() const { return places_.size(); }
  /// The most that can wait at a time: strangers, and as many from networks with a proof.
  std::size_t most() const { return 2 * limits_.total; }
  /// Since the beginning.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Pool {
    std::map<PeerAddress, std::vector<Ticket>> of_network;
    std::map<PeerAddress, std::size_t> of_site;
    std::size_t size = 0;
  };
  struct Place {
    Pool* pool;
    PeerAddress from;
  };

  /// The network that must give up a connection before another from `from` comes in.
  std::optional<PeerAddress> crowded(const Pool& pool, const PeerAddress& from);
  void remove(Ticket ticket);
  void remember(const PeerAddress& network);

  const Limits limits_;
  std::minstd_rand random_;
  Pool strangers_, known_;
  std::unordered_map<Ticket, Place> places_;
  std::map<PeerAddress, std::uint64_t> proofs_;  // by network, when: a count
  Ticket last_ = 0;
  std::uint64_t last_proof_ = 0, dropped_ = 0;
};

}  // namespace isthmus::core
