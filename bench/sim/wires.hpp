// Links and the wide area. A message goes in pieces, which take turns with those of other messages
// on their sender's link, as TCP's streams do. A piece passes links one after the other, its head
// ahead of its tail, and waits before each in the order of arrival. No piece is lost.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/engine/network.hpp"
#include "coll/engine/party.hpp"
#include "sim/events.hpp"
#include "sim/message.hpp"

namespace isthmus::sim {

/// The traffic from one cluster to another.
struct Crossed {
  std::uint64_t bytes = 0, messages = 0;
};

/// One way of a member's link.
struct Link {
  double free = 0;
  double busy = 0;  ///< seconds
  std::uint64_t bytes = 0;
  bool serving = false;
  Message* first = nullptr;  // those that wait for their turn
  Message* last = nullptr;
  Message* leaving = nullptr;  // its last piece is on the link
};

class Wires {
 public:
  Wires(const coll::Layout& layout, const coll::Network& network, Events& events);

  /// AtLink.
  void enter(Message& message, double now);
  /// LinkFree: the message whose last byte has left, if any.
  Message* freed(Link& link, double now);
  /// Handles AtGateway, AtWan and AtReceiver. Schedules `Arrived` for messages.
  void passes(Happens what, void* piece, double now);

  const std::vector<Link>& out() const { return out_; }
  const std::vector<Link>& in() const { return in_; }
  const Crossed& crossed(int from, int to) const { return wan_[place(from, to)].crossed; }

 private:
  struct Piece;
  struct Wan {
    double free = 0;
    Crossed crossed;
  };
  std::size_t place(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(layout_.clusters()) +
           static_cast<std::size_t>(to);
  }
  void serve(Link& link, double now);
  void at_gateway(Piece& piece, double now);
  void at_wan(Piece& piece, double now);
  void at_receiver(Piece& piece, double now);

  const coll::Layout& layout_;
  const coll::Network& network_;
  Events& events_;
  std::vector<Link> out_, in_;              // by rank
  std::vector<double> ways_out_, ways_in_;  // of clusters, when they are free
  std::vector<Wan> wan_;
};

}  // namespace isthmus::sim
