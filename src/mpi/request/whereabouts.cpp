#include "mpi/request/whereabouts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpi/comm/comm.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/request/waits.hpp"

namespace isthmus::face {
namespace {

using nlohmann::json;

// The answer has to fit into one frame.
constexpr std::size_t kMostWaits = 4, kMostName = 60, kMostProgram = 120, kMostClusters = 12;

/// The world rank of a node, or -1 for any.
int told_peer(int node) {
  const Grid* const here = grid();
  return node < 0 || here == nullptr ? node
                                     : here->world().rank_of(static_cast<core::NodeId>(node));
}

json told(const Waited& waited) {
  const WaitingFor& wait = waited.wait;
  json said{{"call", wait.call}, {"seconds", waited.seconds}};
  if (waited.comm_size > 0) {
    said["comm"] = waited.comm_name.substr(0, kMostName);
    said["size"] = waited.comm_size;
  }
  if (wait.requests > 0) said["requests"] = wait.requests;
  if (wait.what != WaitingFor::What::Other) {
    said[wait.what == WaitingFor::What::Message ? "from" : "to"] = told_peer(wait.peer);
    said["tag"] = wait.tag;
  }
  return said;
}

json told(const core::Awaited& awaited) {
  const bool collective = awaited.context % 2 != 0;
  const std::uint64_t context = awaited.context - (collective ? 1 : 0);
  json said{{"collective", collective}, {"tag", awaited.tag}};
  if (awaited.sent) {
    said["to"] = told_peer(static_cast<int>(awaited.peer));
    return said;
  }
  said["from"] = -1;
  if (awaited.source < 0) return said;
  find_context(context, [&](const GridComm& comm) {
    if (awaited.source < comm.size) said["from"] = told_peer(comm.group.node(awaited.source));
  });
  return said;
}

/// The member whose post in shared memory a collective waits for, or -1.
int awaited_in(const Waited& waited) {
  int node = -1;
  if (waited.comm_size == 0) return node;
  find_context(waited.context, [&](const GridComm& comm) {
    const int rank = comm.awaited.load(std::memory_order_relaxed);
    if (rank >= 0 && rank < comm.size) node = comm.group.node(rank);
  });
  return node;
}

std::string host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Its words as they were typed.
std::string program() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string words(kMostProgram, '\0');
  in.read(words.data(), static_cast<std::streamsize>(words.size()));
  words.resize(static_cast<std::size_t>(in.gcount()));
  while (!words.empty() && words.back() == '\0') words.pop_back();
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return words;
}

}  // namespace

std::string whereabouts(int world_rank, const net::Sight& sight) {
  json here{{"rank", world_rank},
            {"host", host()},
            {"pid", getpid()},
            {"program", program()},
            {"native", threads_parked()}};
  here["waits"] = json::array();
  for (const Waited& waited : known_waits()) {
    if (here["waits"].size() < kMostWaits) here["waits"].push_back(told(waited));
  }
  here["awaited"] = json::array();
  for (const Waited& waited : known_waits()) {
    const int node = awaited_in(waited);
    if (node >= 0 && here["awaited"].size() < kMostWaits) {
      here["awaited"].push_back({{"collective", true}, {"tag", 0}, {"from", told_peer(node)}});
    }
  }
  for (const core::Awaited& one : sight.awaited) here["awaited"].push_back(told(one));
  here["direct"] = json::array();
  for (const auto& [cluster, count] : sight.direct) {
    if (here["direct"].size() == kMostClusters) break;
    here["direct"].push_back({{"to", cluster},
                              {"conduits", count.conduits},
                              {"messages", count.messages},
                              {"bytes", count.bytes},
                              {"wire_bytes", count.wire_bytes},
                              {"streams", count.streams},
                              {"lost_bytes", count.repeated}});
  }
  return here.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace isthmus::face
