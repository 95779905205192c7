#include "daemon/agent/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <csignal>
#include <map>
#include <memory>
#include <optional>

#include "core/trace/trace.hpp"
#include "core/wire/wire.hpp"
#include "daemon/agent/alone.hpp"
#include "daemon/agent/gateway_reports.hpp"
#include "daemon/agent/metrics.hpp"
#include "daemon/agent/patience.hpp"
#include "daemon/agent/rank_job.hpp"
#include "daemon/agent/sight.hpp"
#include "daemon/agent/staging.hpp"
#include "daemon/agent/trace_gathering.hpp"
#include "daemon/control/control_channel.hpp"
#include "daemon/control/requests.hpp"
#include "daemon/gateway/gateway_set.hpp"
#include "daemon/host/build.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/host/runtime_dir.hpp"
#include "daemon/launch/spawn_plan.hpp"
#include "daemon/log/log.hpp"
#include "daemon/metrics/metrics_server.hpp"
#include "daemon/service/guest_door.hpp"
#include "net/waiting/looking_loop.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOfTrace = std::size_t{1} << 20;
constexpr int kAbandoned = 75;  // the status that tells the launcher so
constexpr std::chrono::seconds kFlushLimit{2};
constexpr std::chrono::milliseconds kFlushInterval{10};
// Between two questions to the ranks for what they send without gateways, where metrics are served.
constexpr std::chrono::seconds kCountInterval{1};

[[noreturn]] void too_early(const char* op, const char* first) {
  throw Failure(fmt::format("the control message '{}' came before '{}'", op, first));
}

// One isthmusd. Each message of docs/control.md has a few lines here. Larger work has types of its
// own, which know nothing of messages.
class Agent {
 public:
  explicit Agent(const AgentOptions& options);
  int run();

 private:
  void handle(const ControlMessage& message);
  void configure(const ControlMessage& message);
  void inspect(const ControlMessage& message);
  void stage(const ControlMessage& message);
  void take_staged(const ControlMessage& message);
  void end_staged(const ControlMessage& message);
  void link(const ControlMessage& message);
  void extend(const ControlMessage& message);
  void grow(const ControlMessage& message);
  void join(const ControlMessage& message);
  void serve(const ControlMessage& message);
  void part(const ControlMessage& message);
  void forget(const ControlMessage& message);
  std::optional<std::size_t> own_cluster() const;
  void tell_spare(const ControlMessage& message);
  void spawn(const ControlMessage& message);
  void take_stdin(const ControlMessage& message);
  void end_stdin(const ControlMessage& message);
  void signal(const ControlMessage& message);
  void pause(const ControlMessage& message);
  void resume(const ControlMessage& message);
  void hear_alive(const ControlMessage& message);
  void silent();
  void kill(const ControlMessage& message);
  std::chrono::milliseconds launcher_grace() const;
  void count(const ControlMessage& message);
  void answer(const ControlMessage& message);
  void where(const ControlMessage& message);
  void look(const ControlMessage& message);
  void tell_clock(const ControlMessage& message);
  void list_traces(const ControlMessage& message);
  void send_trace(const ControlMessage& message);
  void stats(const ControlMessage& message);
  void end(const ControlMessage& message);

  std::string metrics() const;
  DoorCounts doors() const;
  void keep_counts();
  void job_ended(int wait_status);
  void wait_for_signal();
  void launcher_gone(const std::string& trouble);
  bool may_go_on() const;
  void go_on_alone();
  void job_ended_alone();
  void leave_if_done();
  void send_error(const std::string& sentence, const std::string& remedy);
  SpawnPlanner& planner(const char* op);
  void abandon();
  void stop(int status);
  void close_gateways();
  void flush_and_leave();

  AgentOptions options_;
  asio::io_context context_;
  ControlChannel channel_;
  asio::signal_set signals_;
  asio::steady_timer flush_timer_, count_timer_;
  Patience patience_;     // with the launcher
  std::string launcher_;  // the name of the native one
  std::chrono::steady_clock::time_point flush_deadline_;

  std::unique_ptr<ConfigureRequest> configure_;
  std::unique_ptr<RuntimeDir> runtime_dir_;
  std::unique_ptr<SpawnPlanner> planner_;
  std::unique_ptr<StagedFile> staged_;      // what is coming
  std::unique_ptr<TraceGathering> traces_;  // null: not gathered
  AgentEnding ending_;
  GatewayReports reports_{channel_, ending_, [this] { abandon(); }};
  std::unique_ptr<GatewaySet> gateways_;
  std::unique_ptr<GuestDoor> guest_door_;
  core::World world_;
  std::unique_ptr<MetricsServer> metrics_;
  std::map<std::string, bool> spares_;  // for it: those that have joined, and whether they stay
  Surroundings around_;                 // from `link`
  RankJob job_;
  std::unique_ptr<Alone> alone_;  // the launcher is lost, and the run goes on
  bool all_done_ = false;         // then: no rank is left in the run
  bool own_failed_ = false;       // the cluster; the gateways may serve others
  bool dismissed_ = false;        // the launcher has ended the ranks, or this agent
  bool orderly_ = false;          // stopping because the launcher said so
  int status_ = 0;
  int ranks_status_ = 0;  // once they have ended
};

Agent::Agent(const AgentOptions& options)
    : options_(options),
      channel_(context_, options.in, options.out,
               {[this](const ControlMessage& message) { handle(message); },
                [this](const std::string& trouble) { launcher_gone(trouble); },
                [this](bool full) { job_.hold_output(full); }}),
      signals_(context_, SIGINT, SIGTERM, SIGHUP),
      flush_timer_(context_),
      count_timer_(context_),
      patience_(context_, channel_, [this] { silent(); }),
      job_(context_, channel_, [this](int wait_status) { job_ended(wait_status); }) {}

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

void Agent::handle(const ControlMessage& message) {
  using Handler = void (Agent::*)(const ControlMessage&);
  static const std::map<std::string, Handler> handlers{{"configure", &Agent::configure},
                                                       {"inspect", &Agent::inspect},
                                                       {"stage", &Agent::stage},
                                                       {"stage-data", &Agent::take_staged},
                                                       {"stage-end", &Agent::end_staged},
                                                       {"link", &Agent::link},
                                                       {"spawn", &Agent::spawn},
                                                       {"stdin", &Agent::take_stdin},
                                                       {"stdin-eof", &Agent::end_stdin},
                                                       {"signal", &Agent::signal},
                                                       {"kill", &Agent::kill},
                                                       {"count", &Agent::count},
                                                       {"where", &Agent::where},
                                                       {"look", &Agent::look},
                                                       {"clock", &Agent::tell_clock},
                                                       {"traces", &Agent::list_traces},
                                                       {"trace", &Agent::send_trace},
                                                       {"answer", &Agent::answer},
                                                       {"extend", &Agent::extend},
                                                       {"grow", &Agent::grow},
                                                       {"junction", &Agent::join},
                                                       {"serve", &Agent::serve},
                                                       {"part", &Agent::part},
                                                       {"failed", &Agent::forget},
                                                       {"spare", &Agent::tell_spare},
                                                       {"stats", &Agent::stats},
                                                       {"pause", &Agent::pause},
                                                       {"resume", &Agent::resume},
                                                       {"alive", &Agent::hear_alive},
                                                       {"end", &Agent::end}};
  if (ending_.stopping) return;
  const std::string op = message.op();
  log::debug("the launcher says {}", op);
  try {
    const auto found = handlers.find(op);
    if (found == handlers.end()) {
      throw Failure(fmt::format("the control message '{}' is unknown to isthmusd " ISTHMUS_VERSION,
                                op.substr(0, 60)),
                    "Use the same version of Isthmus everywhere.");
    }
    (this->*found->second)(message);
  } catch (const Failure& failure) {
    send_error(failure.what(), failure.remedy());
  } catch (const std::exception& error) {
    send_error(fmt::format("the request '{}' failed on {}: {}", op, host_name(), error.what()), "");
  }
}

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
  if (request->settings.value("gather_traces", false)) {
    traces_ = std::make_unique<TraceGathering>(request->job);
  }
  const std::string trace = start_trace(*request, options_.gateways_only, traces_.get());
  planner_ = std::make_unique<SpawnPlanner>(*request, options_.self, options_.in);
  runtime_dir_ = std::make_unique<RuntimeDir>(request->job);
  gateways_ = std::make_unique<GatewaySet>(context_, *request, runtime_dir_->path(), reports_);
  json configured{{"op", "configured"}, {"gateways", gateways_->listening()}};
  if (!trace.empty() && !traces_) configured["trace"] = trace;
  if (const auto at = request->settings.value("metrics", json()); at.is_string()) {
    metrics_ = std::make_unique<MetricsServer>(
        context_, at.get<std::string>(), [this] { return metrics(); },
        [this](const std::string& sentence) { log::warn("the agent {}", sentence); });
    configured["metrics"] = metrics_->address();
    keep_counts();
  }
  log::info("gateways listen: {}", gateways_->listening().dump());
  configure_ = std::move(request);
  channel_.send(std::move(configured));
}

// The agent of ranks stays with them.
void Agent::abandon() {
  if (!options_.gateways_only) return;
  log::info("no rank uses the gateways here any more");
  stop(kAbandoned);
}

std::string Agent::metrics() const {
  return metrics_text(configure_->job, world_,
                      {.links = gateways_->counts(),
                       .joined = gateways_->joined_ranks(),
                       .spares = spares_,
                       .direct = gateways_->direct_stats(),
                       .crossings = gateways_->crossing_stats(),
                       .doors = doors()});
}

DoorCounts Agent::doors() const {
  DoorCounts doors;
  for (const auto& [node, count] : gateways_->turned_away()) {
    doors["gateway " + world_.label_of(node)] = count.ranks_and_gateways;
    doors["junctions of gateway " + world_.label_of(node)] = count.guests;
  }
  if (guest_door_) doors["guests"] = guest_door_->turned_away();
  if (metrics_) doors["metrics"] = metrics_->turned_away();
  return doors;
}

void Agent::keep_counts() {
  gateways_->ask_crossed();
  count_timer_.expires_after(kCountInterval);
  count_timer_.async_wait([this](const std::error_code& error) {
    if (!error) keep_counts();
  });
}

SpawnPlanner& Agent::planner(const char* op) {
  if (!planner_ || !configure_) {
    too_early(op, "configure");
  }
  if (options_.gateways_only) {
    throw Failure(std::string("the control message '") + op +
                  "' went to a gateway, which starts no programs");
  }
  return *planner_;
}

void Agent::inspect(const ControlMessage& message) {
  const InspectRequest request = read_inspect(message.body);
  const Inspection& found = planner("inspect").inspect(request.argv, request.mpi);
  json reply{{"op", "program"},    {"path", found.program.path},
             {"abi", nullptr},     {"library", nullptr},
             {"mpi_version", ""},  {"launcher", found.launcher.path},
             {"stub", found.stub}, {"here", planner("inspect").ranks_are_here(found.launcher)}};
  if (const auto& library = found.program.library) {
    reply["abi"] = library->abi;
    reply["library"] = library->path;
    // A process of its own loads the library: 30 ms, for which every run would wait (2026-11).
    if (request.ask_version) {
      reply["mpi_version"] = library_version(library->path, options_.self, planner_->site());
    }
  }
  channel_.send(std::move(reply));
}

void Agent::stage(const ControlMessage& message) {
  const StageRequest request = read_stage(message.body);
  const auto& site = planner("stage").site();
  const auto place =
      staged_place(request.path, site.directory, site.environment.get("HOME").value_or("/"));
  const bool wanted = sha256_of_file(place) != request.sha256;
  if (wanted) staged_ = std::make_unique<StagedFile>(place, request);
  channel_.send({{"op", "stage"}, {"wanted", wanted}, {"path", place.string()}});
}

// A failure of the disk is reported once, as the answer to the end.
void Agent::take_staged(const ControlMessage& message) {
  if (!staged_) too_early("stage-data", "stage");
  staged_->write(message.bytes);
}

void Agent::end_staged(const ControlMessage&) {
  if (!staged_) too_early("stage-end", "stage");
  const auto file = std::exchange(staged_, nullptr);
  file->finish();
  log::info("staged {}", file->place().string());
  channel_.send({{"op", "staged"}, {"path", file->place().string()}});
}

void Agent::link(const ControlMessage& message) {
  if (!configure_) too_early("link", "configure");
  const LinkRequest request = read_link(message.body);
  world_ = request.world;
  around_ = {core::world_to_json(request.world), request.world.size(), runtime_dir_->has_siblings(),
             runtime_dir_->path()};
  gateways_->link(request, [this](const std::string& trouble) {
    if (trouble.empty()) {
      log::info("all links from here stand");
      channel_.send({{"op", "linked"}});
    } else {
      send_error(trouble, "");
    }
  });
}

void Agent::extend(const ControlMessage& message) {
  const ExtendRequest request = read_extend(message.body);
  if (around_.world_json.empty()) too_early("extend", "link");
  for (const auto& [node, name] : request.gateways) world_.add_gateway(node, name);
  gateways_->extend(request, [this](const std::string& trouble) {
    if (!trouble.empty()) return send_error(trouble, "");
    channel_.send({{"op", "extended"}});
  });
}

void Agent::grow(const ControlMessage& message) {
  const GrowRequest request = read_grow(message.body);
  const core::Growth& growth = request.growth;
  if (around_.world_json.empty()) too_early("grow", "link");
  gateways_->grow(request);
  world_.grow(growth);
  log::info("the world has grown by {} ranks, as cluster {}", growth.cluster.size,
            growth.cluster.name);
  channel_.send({{"op", "grown"}});
}

void Agent::join(const ControlMessage& message) {
  if (!gateways_) too_early("junction", "configure");
  gateways_->join(read_junction(message.body),
                  [this](const std::vector<std::string>& at, const std::string& trouble) {
                    if (!trouble.empty()) return send_error(trouble, "");
                    channel_.send({{"op", "junction"}, {"addresses", at}});
                  });
}

void Agent::serve(const ControlMessage& message) {
  if (!gateways_) too_early("serve", "configure");
  if (guest_door_) throw Failure("the control message 'serve' came twice");
  const ServeRequest request = read_serve(message.body);
  guest_door_ = std::make_unique<GuestDoor>(context_, options_.self, request.key, request.secret);
  json at = json::array();
  const auto places =
      request.listen.empty() ? gateways_->places_beside(request.node) : request.listen;
  for (const std::string& place : places) at.push_back(guest_door_->listen(place));
  channel_.send({{"op", "serve"}, {"addresses", at}});
}

void Agent::part(const ControlMessage& message) {
  if (gateways_) gateways_->part(read_part(message.body));
}

void Agent::forget(const ControlMessage& message) {
  const FailedRequest request = read_failed(message.body);
  log::warn("{}", request.message);
  reports_.failed(request.cluster);
  if (request.cluster == own_cluster()) own_failed_ = true;
  if (gateways_) gateways_->failed(request);
}

std::optional<std::size_t> Agent::own_cluster() const {
  const auto& clusters = world_.clusters;
  const auto found = std::ranges::find_if(clusters, [this](const core::Cluster& cluster) {
    return configure_ && cluster.name == configure_->cluster;
  });
  if (found == clusters.end()) return std::nullopt;
  return static_cast<std::size_t>(found - clusters.begin());
}

// It may come before `configure`. The launcher tells it again to gateways that come later.
void Agent::tell_spare(const ControlMessage& message) {
  const net::control::Spare news = read_spare(message.body);
  spares_[news.cluster] = !news.left;
  if (gateways_) gateways_->spare(news);
}

void Agent::spawn(const ControlMessage& message) {
  SpawnPlanner& planner = this->planner("spawn");
  if (around_.world_json.empty()) too_early("spawn", "link");
  if (job_.started()) throw Failure("the control message 'spawn' came twice");
  SpawnRequest request = read_spawn(message.body);
  if (traces_) traces_->tell_ranks(request, planner);
  ChildPlan plan = planner.plan(request, around_);
  launcher_ = plan.launcher;
  job_.start(std::move(plan));
  channel_.send({{"op", "spawned"}});
}

void Agent::take_stdin(const ControlMessage& message) { job_.take_input(message.bytes); }

void Agent::end_stdin(const ControlMessage&) { job_.end_input(); }

void Agent::signal(const ControlMessage& message) {
  const auto found = message.body.find("signal");
  if (found == message.body.end() || !found->is_number_integer() || found->get<int>() < 1 ||
      found->get<int>() >= NSIG) {
    throw Failure("control message: signal.signal is not the number of a signal");
  }
  job_.signal(found->get<int>());
}

void Agent::pause(const ControlMessage&) {
  job_.pause();
  channel_.send({{"op", "paused"}});
}

void Agent::resume(const ControlMessage&) { job_.resume(); }

void Agent::hear_alive(const ControlMessage& message) { patience_.have(read_alive(message.body)); }

void Agent::silent() {
  if (alone_ || ending_.stopping) return;
  log::warn("the launcher is silent for longer than the patience of links");
  channel_.hang_up();
}

void Agent::kill(const ControlMessage& message) {
  dismissed_ = !own_failed_;
  const auto own = launcher_grace();
  const auto told = read_grace(message.body).value_or(own);
  job_.kill(gateways_ && gateways_->rank_died() ? std::max(own, told) : told);
}

// Open MPI's mpirun crashes, with a long trace, when a signal comes while it aborts a job, as it
// does where one of its ranks has died.
std::chrono::milliseconds Agent::launcher_grace() const {
  return std::chrono::seconds(ending_.broken && gateways_ && gateways_->joined() ? 2 : 0);
}

void Agent::count(const ControlMessage&) {
  json reply{{"op", "count"},
             {"ranks", gateways_ ? json(gateways_->joined_ranks()) : json::object()},
             {"ready", gateways_ && gateways_->ready()}};
  // Hydra (MPICH 4.0, 2026-11) waits on when the ssh to a host of its ranks has failed.
  if (const auto failed = job_.failed_child(); failed && !launcher_.empty()) {
    reply["failed"] = {{"program", failed->name},
                       {"launcher", launcher_},
                       {"status", shell_status(failed->wait_status)}};
  }
  channel_.send(std::move(reply));
}

void Agent::answer(const ControlMessage& message) {
  const AnswerRequest request = read_answer(message.body);
  reports_.answered(request.rank, request.number);
  if (gateways_) gateways_->answer(request.rank, request.number, request.reply);
}

void Agent::where(const ControlMessage& message) {
  const bool traces = message.body.value("traces", true);
  if (traces) core::trace::dump("asked", false);
  if (gateways_) gateways_->ask_where(traces);
}

void Agent::stats(const ControlMessage&) { channel_.send(daemon::stats(gateways_.get())); }

void Agent::look(const ControlMessage& message) {
  json answer = daemon::look(gateways_.get());
  answer["ranks"] = gateways_ ? json(gateways_->joined_ranks()) : json::object();
  if (message.body.value("processes", false)) answer["processes"] = processes_here();
  channel_.send(std::move(answer));
}

void Agent::tell_clock(const ControlMessage&) {
  channel_.send({{"op", "clock"}, {"time", clock_now()}});
}

void Agent::list_traces(const ControlMessage&) {
  core::trace::dump("the end", false);
  auto files = json::array();
  for (const auto& [name, size] : traces_ ? traces_->files() : std::vector<TraceFolder::File>()) {
    files.push_back({{"name", name}, {"size", size}});
  }
  channel_.send({{"op", "traces"}, {"files", std::move(files)}});
}

void Agent::send_trace(const ControlMessage& message) {
  if (!traces_) throw Failure("the control message 'trace' came where no traces are gathered");
  const TraceRequest request = read_trace(message.body);
  channel_.send({{"op", "trace"}}, traces_->read(request.name, request.offset, kMostOfTrace));
}

void Agent::end(const ControlMessage&) {
  dismissed_ = true;
  orderly_ = true;
  stop(0);
}

void Agent::job_ended(int wait_status) {
  log::info("the native launcher has ended with status {}", shell_status(wait_status));
  // An abort that a rank sent before counts before the end of the rank.
  gateways_->read_come();
  ranks_status_ = shell_status(wait_status);
  if (alone_) return job_ended_alone();
  json reply{{"op", "exit"},
             {"status", shell_status(wait_status)},
             {"signal", nullptr},
             {"joined", gateways_->joined()},
             {"finalized", gateways_->finished()}};
  if (auto rank = gateways_->first_died(); !rank.empty()) reply["died"] = std::move(rank);
  if (!launcher_.empty()) reply["launcher"] = launcher_;
  if (WIFSIGNALED(wait_status)) reply["signal"] = WTERMSIG(wait_status);
  channel_.send(std::move(reply));
  if (ending_.stopping) close_gateways();
}

// A session that ends with its ssh does not end the ranks of a run that goes on without it.
void Agent::wait_for_signal() {
  signals_.async_wait([this](std::error_code error, int number) {
    if (error) return;
    if (number == SIGHUP && (alone_ || may_go_on())) return wait_for_signal();
    stop(128 + number);
  });
}

void Agent::launcher_gone(const std::string& trouble) {
  if (!trouble.empty()) send_error(trouble, "");
  if (trouble.empty() && channel_.read_whole() && may_go_on()) return go_on_alone();
  stop(trouble.empty() ? 0 : 1);
}

// A launcher that ends the run says so. Without that, it is lost. But if the input ends within a
// message, or unread, the rest may have said so.
bool Agent::may_go_on() const {
  return configure_ && configure_->settings.value("survives", json(false)) == true && !dismissed_ &&
         !ending_.stopping && !ending_.broken && !reports_.suspects() &&
         (configure_->gateways.empty() ? job_.running() : gateways_->ready());
}

void Agent::go_on_alone() {
  log::warn("the launcher is lost; the run goes on without it");
  std::string name = configure_->job + "-" + configure_->cluster;
  std::replace(name.begin(), name.end(), '/', '-');
  std::vector<std::string> folders;
  if (job_.started()) {
    const auto& site = planner_->site();
    folders = {site.directory.empty() ? "." : site.directory,
               site.environment.get("HOME").value_or("/")};
  }
  alone_ = std::make_unique<Alone>(
      std::move(name), folders,
      Alone::Events{
          .answer = [this](core::NodeId process, std::uint64_t number,
                           const std::string& reply) { gateways_->answer(process, number, reply); },
          .end =
              [this](int status) {
                ending_.broken = true;
                stop(status);
              },
          .all_done =
              [this] {
                all_done_ = true;
                asio::post(context_, [this] { leave_if_done(); });
              },
          .abandoned = [this] { abandon(); },
          .parted =
              [this](const std::string& run, const std::string& text) {
                gateways_->part({run, text});
              }});
  alone_->say(
      fmt::format("the launcher of {} is lost; cluster \"{}\" goes on without it. Process "
                  "{} on {} is its agent: SIGTERM to that ends the run",
                  configure_->job, configure_->cluster, getpid(), host_name()));
  job_.go_on_alone([this](int fd, std::string_view bytes) { alone_->output(fd, bytes); });
  channel_.drop();
  for (const auto& [question, text] : reports_.unanswered()) {
    alone_->ask(question.first, question.second, text);
  }
  gateways_->go_on_alone(*alone_);
  if (configure_->gateways.empty()) all_done_ = true;
  if (job_.started() && !job_.running()) job_ended_alone();
}

// A rank that has not called MPI_Finalize may be missed by others.
void Agent::job_ended_alone() {
  alone_->ended(status_ != 0 ? status_ : ranks_status_);
  if (ending_.stopping) return close_gateways();
  if (const auto own = own_cluster()) gateways_->have_ended(*own);
  if (configure_->gateways.empty() || own_failed_ || gateways_->finished()) return leave_if_done();
  alone_->suspect(core::kNobody, 0, "the ranks of this cluster have ended without MPI_Finalize");
}

void Agent::leave_if_done() {
  if (all_done_ && !job_.running()) stop(0);
}

void Agent::send_error(const std::string& sentence, const std::string& remedy) {
  log::warn("{}", sentence);
  channel_.send({{"op", "error"}, {"message", sentence}, {"remedy", remedy}});
}

void Agent::stop(int status) {
  if (ending_.stopping) return;
  ending_.stopping = true;
  if (alone_) orderly_ = true;  // the others notice at once
  status_ = status;
  if (job_.running()) {
    job_.kill(launcher_grace());
  } else {
    close_gateways();
  }
}

// Without goodbyes the other clusters see a fault, as they should when nobody asked for this end.
void Agent::close_gateways() {
  flush_deadline_ = std::chrono::steady_clock::now() + kFlushLimit;
  if (gateways_ && orderly_) {
    gateways_->close([this] { flush_and_leave(); });
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
