// How the members of a window reach each other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "rma/device.hpp"
#include "rma/turn.hpp"

namespace isthmus::rma {

struct WindowConfig {
  std::uint64_t context = 0;         ///< of the window's own: without core::kServiceContext
  int rank = 0;                      ///< mine
  std::vector<core::NodeId> nodes;   ///< by rank
  Turn* turn = nullptr;              ///< of my memory, if origins combine in it themselves
  OpenDevice open_device = nullptr;  ///< if some of my memory may be on a device
};

struct Channel {
  core::Engine& engine;
  const WindowConfig config;

  std::uint64_t service() const { return config.context | core::kServiceContext; }
  core::NodeId node(int rank) const { return config.nodes[static_cast<std::size_t>(rank)]; }
  /// The envelope of records, and of data that follows them (kDataTag).
  core::Envelope of_records(int tag = 0) const {
    return {.context = service(), .source = config.rank, .tag = tag};
  }
  /// The envelope of data in a message of its own.
  core::Envelope of_data(int tag) const {
    return {.context = config.context, .source = config.rank, .tag = tag};
  }
  void post(int rank, std::vector<std::byte> records) {
    engine.post(node(rank), of_records(), std::move(records));
  }
  void answer(int rank, int tag, std::vector<std::byte> bytes) {
    engine.post(node(rank), of_data(tag), std::move(bytes));
  }
};

}  // namespace isthmus::rma
