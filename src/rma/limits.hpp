// The sizes and limits of a window's messages.
#pragma once

#include "core/engine/service.hpp"

namespace isthmus::rma {

/// Data of at least this size that lands in a row goes as a message of its own, straight from and
/// to its places. Copying it costs more than the message does (some microseconds).
inline constexpr std::size_t kApart = std::size_t{32} << 10;
/// Other data goes in parts of this size.
inline constexpr std::size_t kPart = std::size_t{64} << 10;
/// Data of accumulates goes in parts of kStreamPart bytes, and the engine has at most kStreamed of
/// them at a time. A target has limited memory for a service at once (core::kMostServiceBytes), and
/// parts in the engine use their share of the target's window. Copied into records of 64 KiB first,
/// 64 MiB took 636 ms by gateways and 658 direct. This way it takes 590 and 587, the same as
/// messages (2026-11, 1 Gbit/s, 11.6 ms).
inline constexpr std::size_t kStreamPart = std::size_t{256} << 10;
inline constexpr std::size_t kStreamed = 4;
static_assert(kStreamPart * kStreamed <= core::kMostServiceBytes);
/// Records are sent at this size.
inline constexpr std::size_t kBatch = std::size_t{16} << 10;
/// The most that waits to be sent to a partner.
inline constexpr std::size_t kBacklog = std::size_t{4} << 20;
/// The most that may be sent behind a request that the partner may not be able to do at once. These
/// requests are a lock that is not given, and a flush of data that has not landed.
inline constexpr std::size_t kBehind = std::size_t{256} << 10;
/// The most that a target keeps for a partner within these limits, with the longest batch.
inline constexpr std::size_t kMostStalled = kBehind + 2 * core::kMostServiceBytes;
/// The most answers at a time that a partner must make copies for: a gigabit over 250 ms.
inline constexpr std::size_t kMostAnswers = std::size_t{32} << 20;
/// Operations under way to a partner that each keep some memory of their own, there or here.
inline constexpr std::size_t kMostApart = 4096;
inline constexpr std::size_t kMostFetches = std::size_t{1} << 16;
/// The network may still have sent data that its sender has forgotten.
inline constexpr std::size_t kMostLandings = std::size_t{1} << 16;
/// An origin may know that an answer has come before its target does.
inline constexpr std::size_t kMostAnswering = 2 * kMostFetches;
/// The longest form of a datatype that may travel.
inline constexpr std::size_t kMostMap = core::kMostServiceBytes / 2;
/// Marks tags of data that goes with PutApart: tags of answers do not have it.
inline constexpr int kApartTag = 1 << 30;

}  // namespace isthmus::rma
