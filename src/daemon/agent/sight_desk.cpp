#include "daemon/agent/sight_desk.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/trace/trace.hpp"
#include "daemon/agent/sight.hpp"
#include "daemon/control/requests.hpp"
#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOfTrace = std::size_t{1} << 20;

}  // namespace

SightDesk::SightDesk(ControlChannel& channel, Orders& orders, const GatewayDesk& gateways,
                     const RankDesk& ranks)
    : channel_(channel), gateways_(gateways), ranks_(ranks) {
  orders.on("count", *this, &SightDesk::count);
  orders.on("look", *this, &SightDesk::look);
  orders.on("stats", *this, &SightDesk::stats);
  orders.on("clock", *this, &SightDesk::tell_clock);
  orders.on("traces", *this, &SightDesk::list_traces);
  orders.on("trace", *this, &SightDesk::send_trace);
}

std::string SightDesk::trace(const ConfigureRequest& request, bool gateways_only) {
  if (request.settings.value("gather_traces", false)) {
    traces_ = std::make_unique<TraceGathering>(request.job);
  }
  const std::string file = start_trace(request, gateways_only, traces_.get());
  return traces_ ? "" : file;
}

void SightDesk::count(const ControlMessage&) {
  const GatewaySet* const set = gateways_.set();
  json reply{{"op", "count"},
             {"ranks", set ? json(set->joined_ranks()) : json::object()},
             {"ready", set && set->ready()}};
  // Hydra (MPICH 4.0, 2026-11) waits on when the ssh to a host of its ranks has failed.
  if (const auto failed = ranks_.job().failed_child(); failed && !ranks_.launcher().empty()) {
    reply["failed"] = {{"program", failed->name},
                       {"launcher", ranks_.launcher()},
                       {"status", shell_status(failed->wait_status)}};
  }
  channel_.send(std::move(reply));
}

void SightDesk::look(const ControlMessage& message) {
  const GatewaySet* const set = gateways_.set();
  json answer = daemon::look(set);
  answer["ranks"] = set ? json(set->joined_ranks()) : json::object();
  if (message.body.value("processes", false)) answer["processes"] = processes_here();
  channel_.send(std::move(answer));
}

void SightDesk::stats(const ControlMessage&) { channel_.send(daemon::stats(gateways_.set())); }

void SightDesk::tell_clock(const ControlMessage&) {
  channel_.send({{"op", "clock"}, {"time", clock_now()}});
}

void SightDesk::list_traces(const ControlMessage&) {
  core::trace::dump("the end", false);
  auto files = json::array();
  for (const auto& [name, size] : traces_ ? traces_->files() : std::vector<TraceFolder::File>()) {
    files.push_back({{"name", name}, {"size", size}});
  }
  channel_.send({{"op", "traces"}, {"files", std::move(files)}});
}

void SightDesk::send_trace(const ControlMessage& message) {
  if (!traces_) throw Failure("the control message 'trace' came where no traces are gathered");
  const TraceRequest request = read_trace(message.body);
  channel_.send({{"op", "trace"}}, traces_->read(request.name, request.offset, kMostOfTrace));
}

}  // namespace isthmus::daemon
