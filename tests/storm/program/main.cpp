// A random legal MPI program: storm SEED [--steps FIRST-LAST] [--kinds A,B] [--trail DIR]
// [--files DIR] [--plant STEP] [--plant-gap STEP]. Every rank draws the same plan from the seed,
// plays its part and checks each byte that it gets. Ends with 0 where all was right, with 3 and a
// sentence where something was wrong.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <string_view>

#include "kinds.hpp"

namespace {

using storm::options;

[[noreturn]] void usage() {
  fprintf(stderr,
          "usage: storm SEED [--steps N | --steps FIRST-LAST] [--kinds A,B] [--trail DIR] "
          "[--files DIR] [--plant STEP] [--plant-gap STEP]\nkinds:");
  for (const storm::Kind& kind : storm::kKinds) fprintf(stderr, " %s", kind.name);
  fprintf(stderr, "\n");
  exit(2);
}

void read_kinds(const char* names) {
  std::istringstream words(names);
  for (std::string word; std::getline(words, word, ',');) {
    bool known = false;
    for (const storm::Kind& kind : storm::kKinds) known = known || word == kind.name;
    if (!known) usage();
    options.kinds.push_back(word);
  }
}

void read_steps(const char* words) {
  if (strchr(words, '-') != nullptr) {
    if (sscanf(words, "%d-%d", &options.first, &options.last) != 2) usage();
    ++options.last;
  } else {
    options.last = atoi(words);
  }
}

int parent_root = 0;

void read_options(int argc, char** argv) {
  if (argc < 2 || argc % 2 != 0) usage();
  options.program = argv[0];
  options.seed = strtoull(argv[1], nullptr, 10);
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--steps") {
      read_steps(argv[i + 1]);
    } else if (name == "--kinds") {
      read_kinds(argv[i + 1]);
    } else if (name == "--trail") {
      options.trail = argv[i + 1];
    } else if (name == "--files") {
      options.files = argv[i + 1];
    } else if (name == "--parent") {  // of those that spawn this one
      parent_root = atoi(argv[i + 1]);
    } else if (name == "--plant") {
      options.plant = atoi(argv[i + 1]);
    } else if (name == "--plant-gap") {
      options.plant_gap = atoi(argv[i + 1]);
    } else {
      usage();
    }
  }
}

void agree() {
  const char* cluster = getenv("ISTHMUS_CLUSTER");
  int version = MPI_VERSION, size = 0;
  MPI_Allreduce(&version, &options.version, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  options.grid = cluster != nullptr;
  const int number = static_cast<int>(
      std::hash<std::string_view>{}(cluster == nullptr ? "" : cluster) % 1'000'000'007);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  options.clusters.resize(static_cast<std::size_t>(size));
  MPI_Allgather(&number, 1, MPI_INT, options.clusters.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  read_options(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "storm: the MPI library gives no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  agree();
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    storm::play_as_child(parent, parent_root);
    MPI_Finalize();
    return 0;
  }
  storm::Party world(MPI_COMM_WORLD, options.seed, false);
  for (int i = options.first; i < options.last; ++i) storm::play(world, i);
  storm::Random own(options.seed + static_cast<std::uint64_t>(world.rank));
  storm::settle(world, own);
  storm::last_words(world);
  if (world.rank == 0) printf("storm: right\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
