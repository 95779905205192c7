// Ends a job from a process that is not of it, in the name of a rank that cannot.
#pragma once

#include <chrono>
#include <string>

#include "core/world/world.hpp"
#include "net/host/credentials.hpp"

namespace isthmus::net {

/// Tells a gateway of the cluster of `node` that the job cannot go on: as when that rank had
/// found the fault. Returns an empty string when the gateway has it, or the job is ending already;
/// else why not, after about `limit` at most.
std::string report_fault(const core::World& world, int node, const Credentials& credentials,
                         const std::string& sentence, std::chrono::milliseconds limit);

}  // namespace isthmus::net
