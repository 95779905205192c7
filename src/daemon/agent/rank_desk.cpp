#include "daemon/agent/rank_desk.hpp"

#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/control/requests.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

using nlohmann::json;

RankDesk::RankDesk(asio::io_context& context, ControlChannel& channel, Orders& orders,
                   const AgentOptions& options, const Surroundings& around,
                   std::function<void(int)> ended)
    : channel_(channel),
      options_(options),
      around_(around),
      job_(context, channel, std::move(ended)) {
  orders.on("inspect", *this, &RankDesk::inspect);
  orders.on("stage", *this, &RankDesk::stage);
  orders.on("stage-data", *this, &RankDesk::take_staged);
  orders.on("stage-end", *this, &RankDesk::end_staged);
  orders.on("spawn", *this, &RankDesk::spawn);
  orders.on("stdin", *this, &RankDesk::take_stdin);
  orders.on("stdin-eof", *this, &RankDesk::end_stdin);
  orders.on("signal", *this, &RankDesk::signal);
  orders.on("pause", *this, &RankDesk::pause);
  orders.on("resume", *this, &RankDesk::resume);
}

void RankDesk::configure(const ConfigureRequest& request, TraceGathering* traces) {
  traces_ = traces;
  planner_ = std::make_unique<SpawnPlanner>(request, options_.self, options_.in);
}

SpawnPlanner& RankDesk::planner(const char* op) {
  if (!planner_) too_early(op, "configure");
  if (options_.gateways_only) {
    throw Failure(std::string("the control message '") + op +
                  "' went to a gateway, which starts no programs");
  }
  return *planner_;
}

std::vector<std::string> RankDesk::folders() const {
  if (!job_.started()) return {};
  const auto& site = planner_->site();
  return {site.directory.empty() ? "." : site.directory,
          site.environment.get("HOME").value_or("/")};
}

// ---- programs and files -----------------------------------------------------------------------

void RankDesk::inspect(const ControlMessage& message) {
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

void RankDesk::stage(const ControlMessage& message) {
  const StageRequest request = read_stage(message.body);
  const auto& site = planner("stage").site();
  const auto place =
      staged_place(request.path, site.directory, site.environment.get("HOME").value_or("/"));
  const bool wanted = sha256_of_file(place) != request.sha256;
  if (wanted) staged_ = std::make_unique<StagedFile>(place, request);
  channel_.send({{"op", "stage"}, {"wanted", wanted}, {"path", place.string()}});
}

// A failure of the disk is reported once, as the answer to the end.
void RankDesk::take_staged(const ControlMessage& message) {
  if (!staged_) too_early("stage-data", "stage");
  staged_->write(message.bytes);
}

void RankDesk::end_staged(const ControlMessage&) {
  if (!staged_) too_early("stage-end", "stage");
  const auto file = std::exchange(staged_, nullptr);
  file->finish();
  log::info("staged {}", file->place().string());
  channel_.send({{"op", "staged"}, {"path", file->place().string()}});
}

// ---- ranks ------------------------------------------------------------------------------------

void RankDesk::spawn(const ControlMessage& message) {
  SpawnPlanner& planner = this->planner("spawn");
  if (around_.world_json.empty()) too_early("spawn", "link");
  if (job_.started()) throw Failure("the control message 'spawn' came twice");
  SpawnRequest request = read_spawn(message.body);
  if (traces_ != nullptr) traces_->tell_ranks(request, planner);
  ChildPlan plan = planner.plan(request, around_);
  launcher_ = plan.launcher;
  job_.start(std::move(plan));
  channel_.send({{"op", "spawned"}});
}

void RankDesk::take_stdin(const ControlMessage& message) { job_.take_input(message.bytes); }

void RankDesk::end_stdin(const ControlMessage&) { job_.end_input(); }

void RankDesk::signal(const ControlMessage& message) {
  const auto found = message.body.find("signal");
  if (found == message.body.end() || !found->is_number_integer() || found->get<int>() < 1 ||
      found->get<int>() >= NSIG) {
    throw Failure("control message: signal.signal is not the number of a signal");
  }
  job_.signal(found->get<int>());
}

void RankDesk::pause(const ControlMessage&) {
  job_.pause();
  channel_.send({{"op", "paused"}});
}

void RankDesk::resume(const ControlMessage&) { job_.resume(); }

}  // namespace isthmus::daemon
