#include "daemon/agent/trace_gathering.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "core/trace/trace.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"

namespace isthmus::daemon {
namespace {

std::string temporary() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr && *named == '/' ? named : "/tmp";
}

}  // namespace

TraceGathering::TraceGathering(std::string job) : job_(std::move(job)), here_(temporary(), job_) {}

void TraceGathering::tell_ranks(SpawnRequest& request, SpawnPlanner& planner) {
  for (auto& part : request.parts) {
    const Inspection& found = planner.inspect(part.argv, part.mpi);
    const bool here = planner.ranks_are_here(found.launcher);
    if (!here && !shared_) shared_ = std::make_unique<TraceFolder>(planner.site().directory, job_);
    part.env["ISTHMUS_TRACE_DIR"] = here ? here_.path() : shared_->path();
    part.env["ISTHMUS_TRACE_GATHERED"] = "1";
  }
}

std::vector<TraceFolder::File> TraceGathering::files() const {
  std::vector<TraceFolder::File> files = here_.files();
  if (shared_) {
    for (auto& file : shared_->files()) files.push_back(std::move(file));
  }
  return files;
}

std::string TraceGathering::read(const std::string& name, std::size_t offset,
                                 std::size_t most) const {
  if (here_.has(name)) return here_.read(name, offset, most);
  if (shared_ && shared_->has(name)) return shared_->read(name, offset, most);
  throw Failure("there is no trace '" + name.substr(0, 60) + "' on " + host_name());
}

std::string start_trace(const ConfigureRequest& request, bool gateways_only,
                        const TraceGathering* gathering) {
  const auto& settings = request.settings;
  try {
    core::trace::start(
        core::trace::parse_subsystems(settings.value("trace", "")),
        {.directory = gathering ? gathering->here() : settings.value("trace_dir", ""),
         .job = request.job,
         // A cluster has one agent, and may have several hosts with gateways.
         .process = gateways_only ? "gateway " + request.cluster + ' ' + std::to_string(getpid())
                                  : "agent " + request.cluster,
         .records = core::trace::parse_records(settings.value("trace_records", "")),
         .gathered = gathering != nullptr});
  } catch (const std::invalid_argument& wrong) {
    throw Failure(wrong.what());
  }
  core::trace::dump_on_faults();
  return core::trace::path();
}

}  // namespace isthmus::daemon
