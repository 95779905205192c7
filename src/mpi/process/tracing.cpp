#include "mpi/process/tracing.hpp"

#include <string>

#include "coll/engine/algorithm.hpp"
#include "core/trace/trace.hpp"

namespace isthmus::face {

void start_trace(const Environment& environment, const core::World& world, int world_rank) {
  namespace trace = core::trace;
  const std::uint32_t subsystems = trace::parse_subsystems(environment.trace);
  if (subsystems == 0) return;
  trace::start(subsystems, {.directory = environment.trace_directory,
                            .job = environment.job,
                            .process = "rank " + std::to_string(world_rank),
                            .records = trace::parse_records(environment.trace_records),
                            .gathered = environment.trace_gathered});
  for (int kind = 0; kind < coll::kKinds; ++kind) {
    trace::name_value("collective", kind, coll::name_of(static_cast<coll::Kind>(kind)));
  }
  for (int node = 0; node < world.size(); ++node) {
    const int rank = world.rank_of(static_cast<core::NodeId>(node));
    if (rank != node) trace::name_value("node", node, std::to_string(rank));
  }
  const auto algorithms = coll::algorithms();
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    trace::name_value("algorithm", static_cast<std::int64_t>(i), algorithms[i].name);
  }
  trace::dump_on_faults();
}

}  // namespace isthmus::face
