#include "daemon/agent/headless.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/host/host.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

// A launcher that ends the run says so. Without that, it is lost. But if the input ends within a
// message, or unread, the rest may have said so.
bool Headless::may_begin(const ConfigureRequest* request) const {
  if (request == nullptr || request->settings.value("survives", nlohmann::json(false)) != true) {
    return false;
  }
  const AgentEnding& ending = agent_.ending;
  return !ending.dismissed && !ending.stopping && !ending.broken && !agent_.reports.suspects() &&
         (request->gateways.empty() ? agent_.ranks.job().running()
                                    : agent_.gateways.set()->ready());
}

void Headless::begin(const ConfigureRequest& request) {
  log::warn("the launcher is lost; the run goes on without it");
  request_ = &request;
  std::string name = request.job + "-" + request.cluster;
  std::replace(name.begin(), name.end(), '/', '-');
  GatewaySet& gateways = *agent_.gateways.set();
  alone_ = std::make_unique<Alone>(
      std::move(name), agent_.ranks.folders(),
      Alone::Events{
          .answer = [&gateways](core::NodeId process, std::uint64_t number,
                                const std::string& reply) {
            gateways.answer(process, number, reply);
          },
          .end =
              [this](int status) {
                agent_.ending.broken = true;
                agent_.stop(status);
              },
          .all_done =
              [this] {
                all_done_ = true;
                asio::post(agent_.context, [this] { leave_if_done(); });
              },
          .abandoned = agent_.abandon,
          .parted =
              [&gateways](const std::string& run, const std::string& text) {
                gateways.part({run, text});
              }});
  alone_->say(
      fmt::format("the launcher of {} is lost; cluster \"{}\" goes on without it. Process "
                  "{} on {} is its agent: SIGTERM to that ends the run",
                  request.job, request.cluster, getpid(), host_name()));
  RankJob& job = agent_.ranks.job();
  job.go_on_alone([this](int fd, std::string_view bytes) { alone_->output(fd, bytes); });
  agent_.channel.drop();
  for (const auto& [question, text] : agent_.reports.unanswered()) {
    alone_->ask(question.first, question.second, text);
  }
  gateways.go_on_alone(*alone_);
  if (request.gateways.empty()) all_done_ = true;
}

// A rank that has not called MPI_Finalize may be missed by others.
void Headless::ranks_ended(int status) {
  alone_->ended(status);
  if (agent_.ending.stopping) return;
  GatewaySet& gateways = *agent_.gateways.set();
  if (const auto own = agent_.gateways.own_cluster()) gateways.have_ended(*own);
  if (request_->gateways.empty() || agent_.gateways.own_failed() || gateways.finished()) {
    return leave_if_done();
  }
  alone_->suspect(core::kNobody, 0, "the ranks of this cluster have ended without MPI_Finalize");
}

void Headless::leave_if_done() {
  if (all_done_ && !agent_.ranks.job().running()) agent_.stop(0);
}

}  // namespace isthmus::daemon
