// A message under way.
#pragma once

#include <cstddef>
#include <memory>

#include "coll/engine/party.hpp"

namespace isthmus::sim {

/// A send or a receive that a task awaits; the simulation sets its end.
struct Awaited final : coll::Operation {
  bool poll() override { return done; }
  bool done = false;
  coll::Bytes place;        ///< of a receive
  Awaited* next = nullptr;  ///< receive in its lane
};

struct Message {
  int from = 0, to = 0;
  bool asks = false;         ///< leaves when its receive is there, as long native messages do
  bool synchronous = false;  ///< the sender hears of its receive
  bool arrived = false;
  std::size_t size = 0;
  std::size_t left = 0;    ///< to be put on the sender's link
  std::size_t coming = 0;  ///< not yet at the receiver's end
  double last = 0;         ///< when the last byte that has come so far is there
  Awaited* send = nullptr;
  Awaited* receive = nullptr;
  Message* next = nullptr;    ///< in its lane
  Message* behind = nullptr;  ///< in the queue of its link
  std::unique_ptr<std::byte[]> contents;
};

}  // namespace isthmus::sim
