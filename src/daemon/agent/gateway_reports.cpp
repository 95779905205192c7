#include "daemon/agent/gateway_reports.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/any_json.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

using nlohmann::json;

GatewaySetEvents reports_of_gateways(ControlChannel& channel, AgentEnding& ending) {
  GatewaySetEvents events;
  events.joined = [&channel](const std::string& cluster, int size) {
    log::info("all {} ranks of cluster {} have joined", size, cluster);
    channel.send({{"op", "joined"}, {"cluster", cluster}, {"ranks", size}});
  };
  events.abort = [&channel, &ending](int rank, int code, const std::string& text) {
    ending.broken = true;
    if (ending.stopping) return;
    log::warn("rank {} called MPI_Abort with code {}", rank, code);
    channel.send({{"op", "abort"}, {"rank", rank}, {"code", code}, {"message", text}});
  };
  events.fault = [&channel, &ending](const std::string& text, int code) {
    ending.broken = true;
    if (ending.stopping) return;
    log::warn("{}", text);
    channel.send({{"op", "fault"}, {"message", text}, {"code", code}});
  };
  events.silence = [&channel, &ending](const LinkSilence& silence) {
    if (ending.stopping) return;
    const auto seconds = [](std::chrono::milliseconds time) {
      return static_cast<double>(time.count()) * 1e-3;
    };
    channel.send({{"op", "silence"},
                  {"from", silence.from},
                  {"to", silence.to},
                  {"seconds", seconds(silence.silence)},
                  {"patience", seconds(silence.patience)},
                  {"over", silence.over}});
  };
  events.here = [&channel, &ending](const std::string& whereabouts) {
    json here = json::parse(whereabouts, nullptr, false);
    if (!ending.stopping && here.is_object())
      channel.send({{"op", "where"}, {"here", std::move(here)}});
  };
  events.ask = [&channel, &ending](core::NodeId process, std::uint64_t number,
                                   const std::string& text) {
    json request = core::parse_any(text);
    if (ending.stopping || !request.is_object()) return;
    channel.send(
        {{"op", "ask"}, {"rank", process}, {"number", number}, {"request", std::move(request)}});
  };
  events.parted = [&channel, &ending](const std::string& run, const std::string& message) {
    if (!ending.stopping) channel.send({{"op", "parted"}, {"run", run}, {"message", message}});
  };
  events.notice = [&channel, &ending](const std::string& text, bool warning) {
    log::line(warning ? log::Level::Warn : log::Level::Info, "{}", text);
    if (!ending.stopping) channel.send({{"op", "notice"}, {"message", text}, {"warning", warning}});
  };
  return events;
}

}  // namespace isthmus::daemon
