#include "daemon/agent/gateway_reports.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/any_json.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

using nlohmann::json;

void GatewayReports::joined(const std::string& cluster, int size) {
  log::info("all {} ranks of cluster {} have joined", size, cluster);
  channel_.send({{"op", "joined"}, {"cluster", cluster}, {"ranks", size}});
}

void GatewayReports::abort(int rank, int code, const std::string& text) {
  ending_.broken = true;
  if (ending_.stopping) return;
  log::warn("rank {} called MPI_Abort with code {}", rank, code);
  channel_.send({{"op", "abort"}, {"rank", rank}, {"code", code}, {"message", text}});
}

void GatewayReports::fault(const std::string& text, int code) {
  ending_.broken = true;
  if (ending_.stopping) return;
  log::warn("{}", text);
  channel_.send({{"op", "fault"}, {"message", text}, {"code", code}});
}

void GatewayReports::suspect(core::NodeId gateway, std::size_t cluster, const std::string& text) {
  if (ending_.stopping) return;
  log::warn("{}", text);
  suspected_.insert(cluster);
  channel_.send({{"op", "suspect"}, {"gateway", gateway}, {"cluster", cluster}, {"message", text}});
}

void GatewayReports::silence(const LinkSilence& silence) {
  if (ending_.stopping) return;
  const auto seconds = [](std::chrono::milliseconds time) {
    return static_cast<double>(time.count()) * 1e-3;
  };
  channel_.send({{"op", "silence"},
                 {"from", silence.from},
                 {"to", silence.to},
                 {"seconds", seconds(silence.silence)},
                 {"patience", seconds(silence.patience)},
                 {"over", silence.over}});
}

void GatewayReports::here(const std::string& whereabouts) {
  json here = json::parse(whereabouts, nullptr, false);
  if (!ending_.stopping && here.is_object())
    channel_.send({{"op", "where"}, {"here", std::move(here)}});
}

void GatewayReports::ask(core::NodeId process, std::uint64_t number, const std::string& text) {
  json request = core::parse_any(text);
  if (ending_.stopping || !request.is_object()) return;
  unanswered_[{process, number}] = text;
  channel_.send(
      {{"op", "ask"}, {"rank", process}, {"number", number}, {"request", std::move(request)}});
}

void GatewayReports::parted(const std::string& run, const std::string& message) {
  if (!ending_.stopping) channel_.send({{"op", "parted"}, {"run", run}, {"message", message}});
}

void GatewayReports::warning(const std::string& text) {
  log::warn("{}", text);
  notice(text, true);
}

void GatewayReports::rejected(const std::string& text) {
  log::info("{}", text);
  notice(text, false);
}

void GatewayReports::notice(const std::string& text, bool warning) {
  if (!ending_.stopping) channel_.send({{"op", "notice"}, {"message", text}, {"warning", warning}});
}

}  // namespace isthmus::daemon
