// The launcher's requests (docs/control.md) as values. Reading one throws Failure with a sentence
// that names the message and the key that is wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/wipe.hpp"
#include "core/router/router.hpp"
#include "core/world/world.hpp"
#include "net/control/control_body.hpp"
#include "net/door/service.hpp"

namespace isthmus::daemon {

using Variables = std::map<std::string, std::string>;

struct ConfigureRequest {
  std::string version;  ///< for messages
  int wire = 0;         ///< number of the wire protocol; 0: an old launcher
  std::string job;
  core::Secret secret;  ///< raw bytes
  std::string cluster;
  Variables env;
  std::string mpi;
  std::string launch;
  std::vector<std::string> hosts;  ///< for the native launcher; empty: its own choice
  std::string wdir;
  struct OwnGateway {
    core::NodeId node = core::kNobody;
    std::vector<std::string> listen;
    std::vector<std::string> awaits;  ///< calls at these services
  };
  std::vector<OwnGateway> gateways;
  std::vector<net::Service> services;
  nlohmann::json settings = nlohmann::json::object();
};

struct InspectRequest {
  std::vector<std::string> argv;
  std::string mpi;          ///< in place of ConfigureRequest's; empty: that
  bool ask_version = true;  ///< whether the reply has `mpi_version`
};

struct LinkRequest {
  core::World world;
  struct Link {
    core::NodeId from = core::kNobody;
    core::NodeId to = core::kNobody;
    std::vector<std::string> addresses;
    bool encrypt = true;
    double rate = 0;         ///< bytes per second; 0: unknown
    double rtt = 0;          ///< seconds; 0: unknown
    int streams = 0;         ///< 0: chosen here
    std::string congestion;  ///< empty: as the kernel has it
    bool compress = false;
    core::Net net = core::Net::Tcp;
    double patience = 0;  ///< seconds; 0: that of the settings
  };
  std::vector<Link> links;
  /// The routes of each own gateway.
  std::map<core::NodeId, core::Routes> routes;
  /// The launcher's host has the ranks or all gateways of these clusters, and these gateways. At
  /// least `least` clusters have to be left.
  struct Beside {
    std::set<std::size_t> clusters{};  ///< empty: none of them may be given up
    std::set<core::NodeId> gateways{};
    int least = 1;
  };
  Beside beside{};
};

/// Gateways that come to a world that is running.
struct ExtendRequest {
  std::vector<std::pair<core::NodeId, std::string>> gateways;  ///< nodes and names
  std::vector<LinkRequest::Link> links;
  std::vector<core::NodeId> gone;
};

struct GrowRequest {
  core::Growth growth;
  /// The routes of each own gateway. Empty if the new cluster is like another.
  std::map<core::NodeId, std::vector<core::NodeId>> routes;
};

struct StageRequest {
  std::string path;  ///< absolute, "~/...", or below the working directory
  unsigned mode = 0600;
  std::uint64_t size = 0;
  std::string sha256;  ///< hex
};

struct SpawnRequest {
  struct Part {
    int n = 0;
    std::vector<std::string> argv;
    Variables env;
    int appnum = 0;     ///< which part of the whole command line
    std::string mpi{};  ///< as InspectRequest's
  };
  std::vector<Part> parts;
  int first = 0;
  int local_first = 0;  ///< ranks of other clusters on this host that count before these
  int size = 0;
  int base = 0;        ///< world rank of the first rank of its MPI_COMM_WORLD
  int world_size = 0;  ///< of that; 0: the grid's
  bool has_stdin = false;
  bool tag_output = false;
};

/// The launcher's answer to a rank.
struct AnswerRequest {
  core::NodeId rank = core::kNobody;
  std::uint64_t number = 0;  ///< of the rank's question
  std::string reply;         ///< JSON
};

/// One end of a junction (gateway.hpp), at a gateway of this agent's.
struct JunctionRequest {
  core::NodeId node = core::kNobody;  ///< the gateway
  std::string run;
  core::NodeId self = core::kNobody, peer = core::kNobody;
  std::string name;      ///< in the handshake
  core::Secret secret;   ///< raw bytes
  bool listens = false;  ///< else it connects
  std::vector<std::string> connect;
  std::vector<net::Service> services;
  double patience = 0;  ///< seconds; 0: the gateway's
};

/// To join connections of guests as a service does, beside a gateway of this agent's.
struct ServeRequest {
  core::NodeId node = core::kNobody;
  std::string key;                  ///< by which those who come prove that they may
  core::Secret secret;              ///< of the key, raw bytes
  std::vector<std::string> listen;  ///< empty: beside the gateway
};

struct PartRequest {
  std::string run, message;
};

/// A cluster, by its index in the world, has failed: the run goes on without it.
struct FailedRequest {
  std::size_t cluster = 0;
  std::string message;  ///< why, a sentence
};

/// The next bytes of a trace.
struct TraceRequest {
  std::string name;  ///< as `traces` tells it
  std::size_t offset = 0;
};

ConfigureRequest read_configure(const nlohmann::json& body);
InspectRequest read_inspect(const nlohmann::json& body);
LinkRequest read_link(const nlohmann::json& body);
StageRequest read_stage(const nlohmann::json& body);
SpawnRequest read_spawn(const nlohmann::json& body);
ExtendRequest read_extend(const nlohmann::json& body);
GrowRequest read_grow(const nlohmann::json& body);
JunctionRequest read_junction(const nlohmann::json& body);
ServeRequest read_serve(const nlohmann::json& body);
PartRequest read_part(const nlohmann::json& body);
/// The patience of `alive`. Zero: the launcher stops for a while.
std::chrono::milliseconds read_alive(const nlohmann::json& body);
FailedRequest read_failed(const nlohmann::json& body);
/// The gateways of `lost`.
std::set<core::NodeId> read_lost(const nlohmann::json& body);
net::control::Spare read_spare(const nlohmann::json& body);
AnswerRequest read_answer(const nlohmann::json& body);
/// The time that a native launcher has to end by itself before a signal. Empty: the agent's
/// default.
std::optional<std::chrono::milliseconds> read_grace(const nlohmann::json& body);
TraceRequest read_trace(const nlohmann::json& body);

}  // namespace isthmus::daemon
