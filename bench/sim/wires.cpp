#include "sim/wires.hpp"

#include <algorithm>
#include <utility>

namespace isthmus::sim {
namespace {

// The most bytes of one turn on a link: as much as the segments of pipelines have, and fifty
// packets.
constexpr std::size_t kPiece = 64 << 10;

}  // namespace

struct Wires::Piece {
  Message* message;
  std::size_t bytes;
  double tail;           // when its last byte reaches the place of its head
  bool entered = false;  // the other cluster, if ways out are shared
};

Wires::Wires(const coll::Layout& layout, const coll::Network& network, Events& events)
    : layout_(layout),
      network_(network),
      events_(events),
      out_(static_cast<std::size_t>(layout.size())),
      in_(out_.size()),
      ways_out_(static_cast<std::size_t>(layout.clusters())),
      ways_in_(ways_out_.size()),
      wan_(ways_out_.size() * ways_out_.size()) {}

void Wires::enter(Message& message, double now) {
  Link& link = out_[static_cast<std::size_t>(message.from)];
  message.behind = nullptr;
  (link.first == nullptr ? link.first : link.last->behind) = &message;
  link.last = &message;
  const int from = layout_.cluster_of(message.from), to = layout_.cluster_of(message.to);
  if (from != to) {
    Crossed& crossed = wan_[place(from, to)].crossed;
    crossed.bytes += message.size;
    ++crossed.messages;
  }
  if (!link.serving) serve(link, now);
}

void Wires::serve(Link& link, double now) {
  link.serving = link.first != nullptr;
  if (!link.serving) return;
  Message& message = *link.first;
  link.first = message.behind;
  message.behind = nullptr;
  const std::size_t bytes = std::min(message.left, kPiece);
  message.left -= bytes;
  const double takes = static_cast<double>(bytes) / network_.link_bandwidth;
  link.bytes += bytes;
  link.busy += takes;
  const bool within = layout_.cluster_of(message.from) == layout_.cluster_of(message.to);
  const double tail = now + takes + (within ? network_.link_latency : 0);
  auto* const piece = new Piece{&message, bytes, tail};
  if (within) {
    events_.add(now + network_.link_latency, Happens::AtReceiver, piece);
  } else {
    events_.add(now, network_.paths > 0 ? Happens::AtGateway : Happens::AtWan, piece);
  }
  if (message.left > 0) {
    (link.first == nullptr ? link.first : link.last->behind) = &message;
    link.last = &message;
  } else {
    link.leaving = &message;
  }
  events_.add(now + takes, Happens::LinkFree, &link);
}

Message* Wires::freed(Link& link, double now) {
  Message* const left = std::exchange(link.leaving, nullptr);
  serve(link, now);
  return left;
}

void Wires::passes(Happens what, void* at, double now) {
  Piece& piece = *static_cast<Piece*>(at);
  if (what == Happens::AtGateway) at_gateway(piece, now);
  if (what == Happens::AtWan) at_wan(piece, now);
  if (what == Happens::AtReceiver) at_receiver(piece, now);
}

// All ways of a cluster together: a piece takes one of them, and the next piece the next one.
void Wires::at_gateway(Piece& piece, double now) {
  const bool entering = piece.entered;
  const int end = entering ? piece.message->to : piece.message->from;
  auto& ways = entering ? ways_in_ : ways_out_;
  double& free = ways[static_cast<std::size_t>(layout_.cluster_of(end))];
  const double handling = network_.message_cost / network_.paths;
  const double begin = std::max(now, free) + handling;
  free = begin + static_cast<double>(piece.bytes) / network_.link_bandwidth / network_.paths;
  piece.tail = std::max(piece.tail, free);
  events_.add(begin, entering ? Happens::AtReceiver : Happens::AtWan, &piece);
}

void Wires::at_wan(Piece& piece, double now) {
  Wan& wan =
      wan_[place(layout_.cluster_of(piece.message->from), layout_.cluster_of(piece.message->to))];
  const double begin = std::max(now, wan.free);
  wan.free = begin + static_cast<double>(piece.bytes) / network_.wan_bandwidth;
  piece.tail = std::max(piece.tail, wan.free) + network_.wan_latency;
  piece.entered = true;
  events_.add(begin + network_.wan_latency,
              network_.paths > 0 ? Happens::AtGateway : Happens::AtReceiver, &piece);
}

void Wires::at_receiver(Piece& piece, double now) {
  Message& message = *piece.message;
  Link& link = in_[static_cast<std::size_t>(message.to)];
  const double takes = static_cast<double>(piece.bytes) / network_.link_bandwidth;
  link.free = std::max(now, link.free) + takes;
  link.busy += takes;
  link.bytes += piece.bytes;
  message.last = std::max({message.last, link.free, piece.tail});
  message.coming -= piece.bytes;
  if (message.coming == 0) events_.add(message.last, Happens::Arrived, &message);
  delete &piece;
}

}  // namespace isthmus::sim
