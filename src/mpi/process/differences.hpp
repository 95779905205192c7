// Differences between the processors of clusters that this process exchanges data with.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/world/world.hpp"

namespace isthmus::face {

/// Each includes those before it. In byte order: any element may differ.
enum class Differences : std::uint8_t { None, LongDouble, ByteOrder };
/// The most that this process has met. It only grows.
inline std::atomic<Differences> differences{Differences::None};

/// Raises `differences`.
Differences meet_difference(const core::Cluster& a, const core::Cluster& b);

}  // namespace isthmus::face
