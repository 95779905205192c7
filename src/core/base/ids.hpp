// Names of the parties of an Isthmus network.
#pragma once

#include <cstdint>

namespace isthmus::core {

/// A party of the network. Processes of the program are numbered from 0, cluster after cluster.
/// That is their world rank unless a map sets another (World::rank_of). Gateways follow from
/// `kFirstGateway` on, in the order of the grid.
using NodeId = std::uint32_t;

inline constexpr NodeId kFirstGateway = 0x8000'0000U;
inline constexpr NodeId kNobody = 0xFFFF'FFFFU;

constexpr bool is_gateway(NodeId node) { return node >= kFirstGateway && node != kNobody; }

/// The link for messages, as the program has chosen it for their communicator: a number of
/// World::choice_of, from `kFirstNamedLink` on, or one of these.
using LinkChoice = std::uint16_t;

inline constexpr LinkChoice kAnyLink = 0;
inline constexpr LinkChoice kByGateways = 1;  ///< never from process to process
inline constexpr LinkChoice kFirstNamedLink = 2;

}  // namespace isthmus::core
