// The bodies of Control frames: what gateways and processes tell each other about the job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace isthmus::net {

/// What has crossed direct conduits. Differences and sums are modulo 2^64, so that a sum of
/// differences is right though streams close.
struct DirectCount {
  std::uint64_t conduits = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;       ///< of the program's payload
  std::uint64_t wire_bytes = 0;  ///< with headers, acknowledgements and repetitions, without TLS
  std::uint64_t ucx = 0;         ///< of the conduits, by UCX
  std::uint64_t streams = 0;     ///< of all conduits
  std::uint64_t repeated = 0;    ///< bytes that TCP has sent again, on the streams that stand

  DirectCount& operator+=(const DirectCount& more);
  DirectCount operator-(const DirectCount& less) const;
  bool operator==(const DirectCount&) const = default;
};

/// One of: somebody has joined; a rank aborted; something broke; how to use the link; the sender
/// does not reach a cluster any more, or a process of it; a process goes on without one of its
/// gateways; the sender's way there is silent, is heard again; another gateway
/// still reaches it; what the sender has sent to a cluster without gateways, asked, told, and all
/// told; where a process is in the program, asked and told; what a process asks the launcher, and
/// what that answers; what the world has grown by; another run, of which there are guests, is not
/// there any more.
struct ControlBody {
  enum class What {
    Joined,
    Abort,
    Fault,
    Link,
    Lost,
    Without,
    Silent,
    Heard,
    Other,
    Count,
    Crossed,
    Where,
    Here,
    Ask,
    Answer,
    Grown,
    Parted
  };
  What what = What::Fault;
  /// Joined: a process, which is connected to all gateways of its cluster; or a gateway, all of
  /// whose processes have joined. Without: the gateway.
  core::NodeId node = core::kNobody;
  /// Abort: the world rank. Without, Lost: the process; of Lost, -1 if it is the whole cluster.
  int rank = -1;
  int code = 1;  ///< Abort, Fault: exit status
  /// Abort, Fault; Lost: why; Here, Ask, Answer: JSON (docs/control.md), of the latter two at most
  /// kMostAsked bytes; Grown: core::growth_to_json; Parted: why.
  std::string message{};
  std::string run{};  ///< Parted: its job
  /// Link, from the end that opens its streams: bytes a second that it carries each way; else 0.
  std::uint64_t rate = 0;
  /// Link, to the end that opens its streams: so many would be good; else 0.
  int streams = 0;
  std::chrono::milliseconds patience{};  ///< Link, from the end that opens its streams; else 0
  std::string congestion{};              ///< Link, as patience; empty: as the kernel has it
  bool compress = false;                 ///< Link, as patience: what crosses, where it gains
  std::size_t cluster = 0;               ///< Lost, Silent, Heard, Other, Crossed
  bool ask = false;          ///< Silent: answer Other if another gateway still reaches it
  bool traces = false;       ///< Where: write the traces, too
  DirectCount crossed{};     ///< Crossed: since the sender last told it
  int part = 0;              ///< Joined, of a gateway: of which part of the world
  std::uint64_t number = 0;  ///< Ask, Answer: of the question, among those of its process
};

/// So that a question fits a frame, whatever its bytes become as JSON within JSON.
inline constexpr std::size_t kMostAsked = 30'000;

std::vector<std::byte> encode_control(const ControlBody& body);
/// Nothing when it is malformed, or of a kind that this release does not know.
std::optional<ControlBody> decode_control(std::span<const std::byte> body);

}  // namespace isthmus::net
