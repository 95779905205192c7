// isthmus-sim: the collectives of more ranks than there are, in simulated time.
#include <sys/mman.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <new>

#include "coll/engine/buffer.hpp"
#include "papers/papers.hpp"
#include "sim/collective.hpp"
#include "sim/report.hpp"

namespace {

using namespace isthmus;
using nlohmann::json;

// An allgather of blocks of 1 GB among ten thousand is less.
constexpr std::size_t kPhantom = std::size_t{1} << 44;

struct Options {
  std::string collective, algorithm, network;
  std::size_t size = 8;
  int clusters = 2, ranks = 16;
  std::uint64_t most_messages = 40'000'000, most_gigabytes = 12;
  bool list = false;
};

coll::Kind kind_of(const std::string& name) {
  std::string all;
  for (int k = 0; k < coll::kKinds; ++k) {
    const auto kind = static_cast<coll::Kind>(k);
    if (coll::name_of(kind) == name) return kind;
    all += (k > 0 ? ", " : "") + std::string(coll::name_of(kind));
  }
  throw std::invalid_argument("--collective " + name + ": there is no such; there are " + all);
}

/// Memory of all ranks, which must not be accessed.
std::byte* phantom_memory() {
  void* const at =
      mmap(nullptr, kPhantom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::runtime_error("no addresses are left for the ranks' memory");
  return static_cast<std::byte*>(at);
}

void simulate(const Options& options) {
  if (options.clusters > options.ranks) {
    throw std::invalid_argument("there are fewer --ranks than --clusters");
  }
  const coll::Kind kind = kind_of(options.collective);
  const coll::Network network = coll::parse_network(options.network, {});
  std::string wish(coll::name_of(kind));
  const coll::Forced forced = options.algorithm.empty()
                                  ? coll::Forced{}
                                  : coll::parse_forced(wish + "=" + options.algorithm);
  const rlimit memory{options.most_gigabytes << 30, options.most_gigabytes << 30};
  setrlimit(RLIMIT_DATA, &memory);
  coll::phantom = phantom_memory();
  const auto begin = std::chrono::steady_clock::now();
  sim::Simulation simulation(
      {sim::Platform::blocks(options.clusters, options.ranks), network, false}, forced,
      options.most_messages);
  simulation.run(sim::collective(kind, options.size, options.ranks));
  json found = sim::report(simulation, sim::problem_of(kind, options.size, options.ranks));
  found["collective"] = options.collective;
  found["bytes"] = options.size;
  found["clusters"] = options.clusters;
  found["ranks"] = options.ranks;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  found["simulated"] = {
      {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()},
      {"megabytes", used.ru_maxrss / 1024}};
  std::cout << found.dump() << std::endl;
}

void list() {
  json all;
  for (const coll::Algorithm& one : coll::algorithms()) {
    if (one.demands.commons) continue;  // memory is not simulated
    all[std::string(coll::name_of(one.kind))].push_back(one.name);
  }
  std::cout << all.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Simulates a collective of Isthmus on clusters that need not exist; prints JSON."};
  app.set_version_flag("--version", ISTHMUS_VERSION);
  Options options;
  app.add_option("--collective", options.collective, "bcast, allreduce, ...");
  app.add_option("--bytes", options.size, "of the message, or of one rank's block");
  app.add_option("--clusters", options.clusters)->check(CLI::Range(1, 1000));
  app.add_option("--ranks", options.ranks, "of all clusters together")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--network", options.network, "as in ISTHMUS_NETWORK");
  app.add_option("--algorithm", options.algorithm, "by name, as in ISTHMUS_COLL");
  app.add_option("--most-messages", options.most_messages, "give up at more");
  app.add_option("--most-gigabytes", options.most_gigabytes, "of memory: give up at more")
      ->check(CLI::Range(1, 1 << 16));
  app.add_flag("--list", options.list, "the collectives and their algorithms");
  CLI11_PARSE(app, argc, argv);
  coll::add_algorithms(coll::algorithms_of_papers());
  try {
    options.list ? list() : simulate(options);
  } catch (const sim::TooManyMessages& error) {
    std::cerr << "isthmus-sim: " << options.collective << " of " << options.size << " B among "
              << options.ranks << " ranks takes " << error.what()
              << "; give fewer ranks, another --algorithm, or --most-messages\n";
    return 3;
  } catch (const std::bad_alloc&) {
    std::cerr << "isthmus-sim: " << options.collective << " of " << options.size << " B among "
              << options.ranks << " ranks takes more than " << options.most_gigabytes
              << " GiB of memory; give fewer ranks, another --algorithm, or --most-gigabytes\n";
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "isthmus-sim: " << error.what() << "\n";
    return 2;
  }
  return 0;
}
