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
namespace {

// Other agents may notice the loss that much later, however short the patience is.
constexpr std::chrono::milliseconds kLeastPatience{20'000};

}  // namespace

Headless::Headless(Agent agent) : agent_(std::move(agent)), timer_(agent_.context) {}

// A launcher that ends the run says so. Without that, it is lost. But if the input ends within a
// message, or unread, the rest may have said so.
bool Headless::may_begin(const ConfigureRequest* request) const {
  if (request == nullptr || request->settings.value("survives", nlohmann::json(false)) != true) {
    return false;
  }
  const AgentEnding& ending = agent_.ending;
  return !ending.dismissed && !ending.stopping && !ending.broken &&
         (request->gateways.empty() ? agent_.ranks.job().running()
                                    : agent_.gateways.set()->ready());
}

void Headless::begin(const ConfigureRequest& request, std::chrono::milliseconds patience) {
  log::warn("the launcher is lost");
  request_ = &request;
  std::string name = request.job + "-" + request.cluster;
  std::replace(name.begin(), name.end(), '/', '-');
  GatewaySet& gateways = *agent_.gateways.set();
  alone_ = std::make_unique<Alone>(
      std::move(name), agent_.ranks.folders(),
      Alone::Events{
          .answer = [&gateways](
                        core::NodeId process, std::uint64_t number,
                        const std::string& reply) { gateways.answer(process, number, reply); },
          .end =
              [this](int status) {
                agent_.ending.broken = true;
                agent_.stop(status);
              },
          .suspect =
              [this](std::size_t cluster) {
                question_->quorum().suspect(cluster);
                judge_soon();
              },
          .agreed =
              [this](core::NodeId gateway) {
                learn(gateway);
                judge_soon();
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
  question_.emplace(agent_.gateways.quorum(), std::max(patience, kLeastPatience));
  Quorum& quorum = question_->quorum();
  if (const auto own = agent_.gateways.own_cluster(); own && agent_.ranks.job().started()) {
    quorum.have_ranks(*own);
  }
  for (const std::size_t cluster : agent_.reports.suspected()) quorum.suspect(cluster);
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
  recall();
  judge();
}

// ---- a cluster is suspected -------------------------------------------------------------------

// A gateway that calls takes no news of a failure meanwhile.
void Headless::judge_soon() {
  asio::post(agent_.context, [this] { judge(); });
}

void Headless::judge() {
  if (agent_.ending.stopping) return;
  auto next = question_->judge(Question::Clock::now());
  if (next == Question::Next::Ask) {
    ask();
    next = question_->judge(Question::Clock::now());
  }
  if (next == Question::Next::GiveUp) give_up();
  if (next == Question::Next::End) alone_->end(question_->why());
}

void Headless::recall() {
  const auto& agreed = agent_.reports.agreed();
  for (const auto gateway : question_->recall(agreed, Question::Clock::now())) learn(gateway);
}

// The connection to the launcher is closed for good. Gateways without a vote say so, too: perhaps
// nobody else has noticed that a cluster is lost.
void Headless::ask() {
  const Quorum& quorum = question_->quorum();
  alone_->say("the others give up " + quorum.names(quorum.given_up()) +
              " on the launcher's host, once all their gateways agree");
  for (const auto& own : request_->gateways) learn(own.node);
  timer_.expires_at(question_->due());
  timer_.async_wait([this](const std::error_code& error) {
    if (!error) judge();
  });
}

// The own gateways pass it on: perhaps no links lead from one of them to another.
void Headless::learn(core::NodeId agreed) {
  if (question_->quorum().agree(agreed)) agent_.gateways.set()->agree(agreed);
}

void Headless::give_up() {
  Quorum& quorum = question_->quorum();
  const auto parting = quorum.given_up();
  for (const std::size_t cluster : parting) quorum.fail(cluster);
  for (const std::size_t cluster : parting) {
    const std::string why =
        quorum.names({cluster}) + " has failed: it was on the host of the launcher";
    alone_->say(fmt::format("{}, which is lost; {} clusters go on", why, quorum.left().size()));
    agent_.gateways.forget({cluster, why + ", which is lost"});
  }
}

// ---- the end ----------------------------------------------------------------------------------

// A rank that has not called MPI_Finalize may be missed by others.
void Headless::ranks_ended(int status) {
  alone_->ended(status);
  if (agent_.ending.stopping) return;
  GatewaySet& gateways = *agent_.gateways.set();
  if (const auto own = agent_.gateways.own_cluster()) gateways.have_ended(*own);
  if (request_->gateways.empty() || agent_.gateways.own_failed() || gateways.finished()) {
    return leave_if_done();
  }
  alone_->end("the ranks of this cluster have ended without MPI_Finalize");
}

void Headless::leave_if_done() {
  if (all_done_ && !agent_.ranks.job().running()) agent_.stop(0);
}

}  // namespace isthmus::daemon
