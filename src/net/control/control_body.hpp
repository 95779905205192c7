// The bodies of Control frames: news about the job, between gateways and processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"

namespace isthmus::net {

/// The traffic of direct conduits. Differences and sums are modulo 2^64, so a sum of differences is
/// right although streams close.
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

/// The contents of Control frames, one type each. docs/protocol.md describes them, by the name that
/// JSON has for each type. `fields` lists the members under their names there, for reading and
/// writing. A *sentence* may hold any bytes; it is cut at 4000.
namespace control {

/// A process is connected to all gateways of its cluster. Or, among gateways, all processes of a
/// part of the world have said so at gateway `node`.
struct Joined {
  core::NodeId node = core::kNobody;
  int part = 0;
  std::string host{};  ///< of the process, for messages about it; empty among gateways
  bool operator==(const Joined&) const = default;
};

/// A rank has called MPI_Abort.
struct Abort {
  int rank = -1;  ///< in the world
  int code = 1;   ///< the job's exit status
  std::string message{};
  static constexpr auto kName = "abort";
  static void fields(auto& self, auto&& field) {
    field("rank", self.rank);
    field("code", self.code);
    field("message", self.message);
  }
  bool operator==(const Abort&) const = default;
};

/// Something broke, and the job ends.
struct Fault {
  int code = 1;           ///< the job's exit status
  std::string message{};  ///< what broke, and where
  static constexpr auto kName = "fault";
  static void fields(auto& self, auto&& field) {
    field("code", self.code);
    field("message", self.message);
  }
  bool operator==(const Fault&) const = default;
};

/// Settings of the link between two gateways. The end that opens its streams says all but
/// `streams`.
struct Link {
  std::uint64_t rate = 0;                ///< bytes a second each way; 0: unknown
  int streams = 0;                       ///< a good number of them, from the other end; else 0
  std::chrono::milliseconds patience{};  ///< 0: nothing said
  std::string congestion{};              ///< empty: the kernel's default
  bool compress = false;                 ///< frames, where it gains
  static constexpr auto kName = "link";
  static void fields(auto& self, auto&& field) {
    field("rate", self.rate);
    field("streams", self.streams);
    field("patience", self.patience);
    field("congestion", self.congestion, field.optional);
    field("compress", self.compress, field.optional);
  }
  bool operator==(const Link&) const = default;
};

/// The sending gateway no longer reaches a cluster, or one process of it.
struct Lost {
  std::size_t cluster = 0;
  std::string message{};  ///< why
  int rank = -1;          ///< the process; -1: the whole cluster
  static constexpr auto kName = "lost";
  static void fields(auto& self, auto&& field) {
    field("cluster", self.cluster);
    field("message", self.message);
    field("rank", self.rank);
  }
  bool operator==(const Lost&) const = default;
};

/// A process has lost its connection to a gateway, and goes on through its others.
struct Without {
  int rank = -1;
  core::NodeId gateway = core::kNobody;
  static constexpr auto kName = "without";
  static void fields(auto& self, auto&& field) {
    field("rank", self.rank);
    field("gateway", self.gateway);
  }
  bool operator==(const Without&) const = default;
};

/// The sending gateway hears nothing on its way to a cluster.
struct Silent {
  std::size_t cluster = 0;
  bool ask = false;  ///< answer Other if another gateway still reaches it
  static constexpr auto kName = "silent";
  static void fields(auto& self, auto&& field) {
    field("cluster", self.cluster);
    field("ask", self.ask);
  }
  bool operator==(const Silent&) const = default;
};

/// The sending gateway hears the cluster again.
struct Heard {
  std::size_t cluster = 0;
  static constexpr auto kName = "heard";
  static void fields(auto& self, auto&& field) { field("cluster", self.cluster); }
  bool operator==(const Heard&) const = default;
};

/// The answer to Silent: another gateway of this process reaches the cluster.
struct Other {
  std::size_t cluster = 0;
  static constexpr auto kName = "other";
  static void fields(auto& self, auto&& field) { field("cluster", self.cluster); }
  bool operator==(const Other&) const = default;
};

/// A process is asked to report its traffic on direct conduits. It answers the same after its
/// report.
struct Count {
  bool operator==(const Count&) const = default;
};

/// The traffic of a process to a cluster, on direct conduits, since its last report.
struct Crossed {
  std::size_t cluster = 0;
  DirectCount count{};
  static constexpr auto kName = "crossed";
  static void fields(auto& self, auto&& field) {
    field("cluster", self.cluster);
    field("conduits", self.count.conduits);
    field("ucx", self.count.ucx, field.optional);
    field("messages", self.count.messages);
    field("bytes", self.count.bytes);
    field("wire_bytes", self.count.wire_bytes);
    field("streams", self.count.streams, field.optional);
    field("lost_bytes", self.count.repeated, field.optional);
  }
  bool operator==(const Crossed&) const = default;
};

/// To a process: where in the program are you?
struct Where {
  bool traces = false;  ///< write the traces, too
  static constexpr auto kName = "where";
  static void fields(auto& self, auto&& field) { field("traces", self.traces); }
  bool operator==(const Where&) const = default;
};

/// The answer to Where.
struct Here {
  std::string text{};  ///< JSON (docs/control.md), cut as a sentence is
  bool operator==(const Here&) const = default;
};

/// A question of a process to the launcher.
struct Ask {
  std::uint64_t number = 0;  ///< among the questions of its process
  std::string request{};     ///< JSON (docs/control.md) of at most kMostAsked bytes
  static constexpr auto kName = "ask";
  static void fields(auto& self, auto&& field) {
    field("number", self.number);
    field("request", self.request, field.whole);
  }
  bool operator==(const Ask&) const = default;
};

struct Answer {
  std::uint64_t number = 0;
  std::string reply{};  ///< as a request
  static constexpr auto kName = "answer";
  static void fields(auto& self, auto&& field) {
    field("number", self.number);
    field("reply", self.reply, field.whole);
  }
  bool operator==(const Answer&) const = default;
};

/// The world has a further cluster.
struct Grown {
  std::string growth{};  ///< core::growth_to_json
  bool operator==(const Grown&) const = default;
};

/// Another run, which has guests here, has gone.
struct Parted {
  std::string run{};      ///< its job
  std::string message{};  ///< why
  static constexpr auto kName = "parted";
  static void fields(auto& self, auto&& field) {
    field("run", self.run);
    field("message", self.message);
  }
  bool operator==(const Parted&) const = default;
};

/// A cluster has failed, for good: the launcher has decided so, and the run goes on without it.
/// Gateways say it to their processes.
struct Failed {
  std::size_t cluster = 0;
  std::string message{};  ///< why
  static constexpr auto kName = "failed";
  static void fields(auto& self, auto&& field) {
    field("cluster", self.cluster);
    field("message", self.message);
  }
  bool operator==(const Failed&) const = default;
};

/// A spare cluster has joined the run, or has left it, while it goes on. Gateways say it to their
/// processes.
struct Spare {
  std::uint64_t number = 0;  ///< of such news in this run, from 0 on
  std::string cluster{};
  bool left = false;
  std::string message{};  ///< a sentence
  static constexpr auto kName = "spare";
  static void fields(auto& self, auto&& field) {
    field("number", self.number);
    field("cluster", self.cluster);
    field("left", self.left);
    field("message", self.message);
  }
  bool operator==(const Spare&) const = default;
};

/// A gateway that has lost its launcher has no process any more. Among gateways.
struct Done {
  core::NodeId gateway = core::kNobody;
  static constexpr auto kName = "done";
  static void fields(auto& self, auto&& field) { field("gateway", self.gateway); }
  bool operator==(const Done&) const = default;
};

/// A gateway that has lost its launcher for good agrees to give up the clusters on the launcher's
/// host (docs/decisions/0056). Among gateways.
struct Agrees {
  core::NodeId gateway = core::kNobody;
  static constexpr auto kName = "agrees";
  static void fields(auto& self, auto&& field) { field("gateway", self.gateway); }
  bool operator==(const Agrees&) const = default;
};

}  // namespace control

using ControlBody =
    std::variant<control::Joined, control::Abort, control::Fault, control::Link, control::Lost,
                 control::Without, control::Silent, control::Heard, control::Other, control::Count,
                 control::Crossed, control::Where, control::Here, control::Ask, control::Answer,
                 control::Grown, control::Parted, control::Failed, control::Spare, control::Done,
                 control::Agrees>;

/// A question of this size fits a frame, even if each of its bytes is escaped in JSON.
inline constexpr std::size_t kMostAsked = 30'000;

std::vector<std::byte> encode_control(const ControlBody& body);
/// Empty if it is malformed, or of a kind that this release does not know.
std::optional<ControlBody> decode_control(std::span<const std::byte> body);

}  // namespace isthmus::net
