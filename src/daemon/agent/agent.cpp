#include "daemon/agent/agent.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <memory>

#include "core/trace/trace.hpp"
#include "core/wire/wire.hpp"
#include "daemon/agent/gateway_desk.hpp"
#include "daemon/agent/gateway_reports.hpp"
#include "daemon/agent/headless.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/patience.hpp"
#include "daemon/agent/rank_desk.hpp"
#include "daemon/agent/sight_desk.hpp"
#include "daemon/control/control_channel.hpp"
#include "daemon/control/requests.hpp"
#include "daemon/host/build.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/log/log.hpp"
#include "net/waiting/looking_loop.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr int kAbandoned = 75;  // the status that tells the launcher so
constexpr std::chrono::seconds kFlushLimit{2};
constexpr std::chrono::milliseconds kFlushInterval{10};

// One isthmusd: how it begins and ends. The desks carry out most messages of docs/control.md.
class Agent {
 public:
  explicit Agent(const AgentOptions& options);
  int run();

 private:
  void configure(const ControlMessage& message);
  void hear_alive(const ControlMessage& message);
  void kill(const ControlMessage& message);
  void end(const ControlMessage& message);

  void silent();
  std::chrono::milliseconds launcher_grace() const;
  void job_ended(int wait_status);
  json exit_of_job(int wait_status) const;
  void wait_for_signal();
  void launcher_gone(const std::string& trouble);
  void abandon();
  void stop(int status);
  void close_gateways();
  void flush_and_leave();

  AgentOptions options_;
  asio::io_context context_;
  ControlChannel channel_;
  asio::signal_set signals_;
  asio::steady_timer flush_timer_;
  Patience patience_;  // with the launcher
  std::chrono::steady_clock::time_point flush_deadline_;

  std::unique_ptr<ConfigureRequest> configure_;
  AgentEnding ending_;
  Orders orders_{channel_};
  GatewayReports reports_{channel_, ending_, [this] { abandon(); }};
  GatewayDesk gateways_;
  RankDesk ranks_;
  SightDesk sight_{channel_, orders_, gateways_, ranks_};
  Headless headless_;
  bool orderly_ = false;  // stopping because the launcher said so
  int status_ = 0;
  int ranks_status_ = 0;  // once they have ended
};

Agent::Agent(const AgentOptions& options)
    : options_(options),
      channel_(context_, options.in, options.out,
               {[this](const ControlMessage& message) {
                  if (!ending_.stopping) orders_.take(message);
                },
                [this](const std::string& trouble) { launcher_gone(trouble); },
                [this](bool full) { ranks_.job().hold_output(full); }}),
      signals_(context_, SIGINT, SIGTERM, SIGHUP),
      flush_timer_(context_),
      patience_(context_, channel_, [this] { silent(); }),
      gateways_(context_, channel_, orders_, reports_, options.self),
      ranks_(context_, channel_, orders_, options_, gateways_.surroundings(),
             [this](int wait_status) { job_ended(wait_status); }),
      headless_({context_, channel_, gateways_, ranks_, reports_, ending_,
                 [this](int status) { stop(status); }, [this] { abandon(); }}) {
  orders_.on("configure", *this, &Agent::configure);
  orders_.on("alive", *this, &Agent::hear_alive);
  orders_.on("kill", *this, &Agent::kill);
  orders_.on("end", *this, &Agent::end);
}

int Agent::run() {
  wait_for_signal();
  channel_.send({{"op", "hello"},
                 {"version", ISTHMUS_VERSION},
                 {"commit", commit()},
                 {"wire", core::kProtocolVersion},
                 {"host", host_name()},
                 {"memory", memory_place()},
                 {"user", user_name()},
                 {"pid", getpid()},
                 {"machine", machine()}});
  net::run_looking(context_);
  core::trace::dump("the end", false);
  return status_;
}

// ---- the launcher's messages ------------------------------------------------------------------

void Agent::configure(const ControlMessage& message) {
  if (configure_) throw Failure("the control message 'configure' came twice");
  auto request = std::make_unique<ConfigureRequest>(read_configure(message.body));
  if (request->wire != core::kProtocolVersion) {
    throw Failure(fmt::format("the launcher is Isthmus {} with wire protocol {}, isthmusd on {} "
                              "(cluster {}) is " ISTHMUS_VERSION " with wire protocol {}",
                              request->version, request->wire, host_name(), request->cluster,
                              core::kProtocolVersion),
                  "Install the same version there, or set the cluster's prefix key.");
  }
  log::start(log::parse_level(request->settings.value("log", "")), request->cluster);
  log::info("isthmusd {} ({}), process {} on {}, is the {} of cluster {}", ISTHMUS_VERSION,
            commit(), getpid(), host_name(), options_.gateways_only ? "gateway" : "agent",
            request->cluster);
  const std::string trace = sight_.trace(*request, options_.gateways_only);
  ranks_.configure(*request, sight_.traces());
  gateways_.open(*request);
  json configured{{"op", "configured"}, {"gateways", gateways_.set()->listening()}};
  if (!trace.empty()) configured["trace"] = trace;
  if (const auto at = request->settings.value("metrics", json()); at.is_string()) {
    configured["metrics"] = gateways_.serve_metrics(at.get<std::string>());
  }
  configure_ = std::move(request);
  channel_.send(std::move(configured));
}

void Agent::hear_alive(const ControlMessage& message) { patience_.have(read_alive(message.body)); }

void Agent::kill(const ControlMessage& message) {
  ending_.dismissed = !gateways_.own_failed();
  const auto own = launcher_grace();
  const auto told = read_grace(message.body).value_or(own);
  const GatewaySet* const gateways = gateways_.set();
  ranks_.job().kill(gateways && gateways->rank_died() ? std::max(own, told) : told);
}

void Agent::end(const ControlMessage&) {
  ending_.dismissed = true;
  orderly_ = true;
  stop(0);
}

// ---- the launcher is lost ---------------------------------------------------------------------

void Agent::silent() {
  if (headless_.begun() || ending_.stopping) return;
  log::warn("the launcher is silent for longer than the patience of links");
  channel_.hang_up();
}

// A session that ends with its ssh does not end the ranks of a run that goes on without it.
void Agent::wait_for_signal() {
  signals_.async_wait([this](std::error_code error, int number) {
    if (error) return;
    const bool hangs_up = number == SIGHUP;
    if (hangs_up && (headless_.begun() || headless_.may_begin(configure_.get()))) {
      return wait_for_signal();
    }
    stop(128 + number);
  });
}

void Agent::launcher_gone(const std::string& trouble) {
  if (!trouble.empty()) orders_.fail(trouble);
  if (trouble.empty() && channel_.read_whole() && headless_.may_begin(configure_.get())) {
    headless_.begin(*configure_, patience_.length());
    if (ranks_.job().started() && !ranks_.job().running()) headless_.ranks_ended(ranks_status_);
    return;
  }
  stop(trouble.empty() ? 0 : 1);
}

// ---- the end ----------------------------------------------------------------------------------

// The agent of ranks stays with them.
void Agent::abandon() {
  if (!options_.gateways_only) return;
  log::info("no rank uses the gateways here any more");
  stop(kAbandoned);
}

// Open MPI's mpirun crashes, with a long trace, when a signal comes while it aborts a job, as it
// does where one of its ranks has died.
std::chrono::milliseconds Agent::launcher_grace() const {
  const GatewaySet* const gateways = gateways_.set();
  return std::chrono::seconds(ending_.broken && gateways && gateways->joined() ? 2 : 0);
}

void Agent::job_ended(int wait_status) {
  const bool stopping = ending_.stopping;
  ranks_status_ = shell_status(wait_status);
  log::info("the native launcher has ended with status {}", ranks_status_);
  // An abort that a rank sent before counts before the end of the rank.
  gateways_.set()->read_come();
  if (headless_.begun()) {
    headless_.ranks_ended(status_ != 0 ? status_ : ranks_status_);
  } else {
    channel_.send(exit_of_job(wait_status));
  }
  if (stopping) close_gateways();
}

json Agent::exit_of_job(int wait_status) const {
  const GatewaySet& gateways = *gateways_.set();
  json reply{{"op", "exit"},
             {"status", shell_status(wait_status)},
             {"signal", nullptr},
             {"joined", gateways.joined()},
             {"finalized", gateways.finished()}};
  if (auto rank = gateways.first_died(); !rank.empty()) reply["died"] = std::move(rank);
  if (!ranks_.launcher().empty()) reply["launcher"] = ranks_.launcher();
  if (WIFSIGNALED(wait_status)) reply["signal"] = WTERMSIG(wait_status);
  return reply;
}

void Agent::stop(int status) {
  if (ending_.stopping) return;
  ending_.stopping = true;
  if (headless_.begun()) orderly_ = true;  // the others notice at once
  status_ = status;
  if (ranks_.job().running()) {
    ranks_.job().kill(launcher_grace());
  } else {
    close_gateways();
  }
}

// Without goodbyes the other clusters see a fault, as they should when nobody asked for this end.
void Agent::close_gateways() {
  flush_deadline_ = std::chrono::steady_clock::now() + kFlushLimit;
  GatewaySet* const gateways = gateways_.set();
  if (gateways && orderly_) {
    gateways->close([this] { flush_and_leave(); });
  } else {
    flush_and_leave();
  }
}

void Agent::flush_and_leave() {
  if (channel_.idle() || std::chrono::steady_clock::now() > flush_deadline_) {
    context_.stop();
    return;
  }
  flush_timer_.expires_after(kFlushInterval);
  flush_timer_.async_wait([this](std::error_code error) {
    if (!error) flush_and_leave();
  });
}

}  // namespace

int run_agent(const AgentOptions& options) { return Agent(options).run(); }

}  // namespace isthmus::daemon
