// Names of the parties of an Isthmus network.
#pragma once

#include <cstdint>

namespace isthmus::core {

/// A party of the network. Processes of the program are numbered from 0, cluster after cluster,
/// which is their world rank unless a map says otherwise (World::rank_of); gateways follow from
/// `kFirstGateway` on, in the order of the grid.
using NodeId = std::uint32_t;

inline constexpr NodeId kFirstGateway = 0x8000'0000U;
inline constexpr NodeId kNobody = 0xFFFF'FFFFU;

constexpr bool is_gateway(NodeId node) { return node >= kFirstGateway && node != kNobody; }

}  // namespace isthmus::core
