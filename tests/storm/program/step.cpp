#include "step.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "thresholds.hpp"  // made of the constants in src by thresholds.py

namespace storm {

Options options;

std::string text(const char* format, ...) {
  char buffer[1000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

namespace {
// Ranks that are not of this MPI_COMM_WORLD are in other clusters.
bool spans_clusters(MPI_Comm comm) {
  MPI_Group here, world;
  MPI_Comm_group(comm, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  MPI_Group_size(here, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size());
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  MPI_Group_translate_ranks(here, size, ranks.data(), world, in_world.data());
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  const auto cluster = [](int rank) {
    return rank == MPI_UNDEFINED ? -1 : options.clusters[static_cast<std::size_t>(rank)];
  };
  return std::any_of(in_world.begin(), in_world.end(),
                     [&](int rank) { return cluster(rank) != cluster(in_world[0]); });
}
}  // namespace

Party::Party(MPI_Comm of, std::uint64_t seed_, bool threads)
    : comm(of), seed(seed_), in_threads(threads), spans(options.grid && spans_clusters(of)) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
}

Step::Step(Party& of, int which, std::string_view kind)
    : party(of),
      comm(of.comm),
      rank(of.rank),
      size(of.size),
      number(which),
      name(kind),
      random(mixed(of.seed ^ mixed(static_cast<std::uint64_t>(which)))),
      own(random.branch(static_cast<std::uint64_t>(of.rank) + 1)) {}

std::uint64_t Step::key(int a, int b, int c) const {
  std::uint64_t made = party.seed ^ 0x5707;
  for (const int part : {number, a, b, c}) made = mixed(made ^ static_cast<std::uint64_t>(part));
  return planted(false) ? ~made : made;
}

Random Step::drawn_for(int a, int b, int c) const {
  std::uint64_t made = party.seed ^ 0xd4a3;
  for (const int part : {number, a, b, c}) made = mixed(made ^ static_cast<std::uint64_t>(part));
  return Random(made);
}

bool Step::planted(bool gap) const {
  return number == (gap ? options.plant_gap : options.plant) && rank == 0 && party.depth == 0 &&
         !party.in_threads;
}

std::size_t Step::draw_size(std::size_t most) {
  const int way = random.below(100);
  std::size_t drawn = 0;
  if (way < 5) {
    drawn = 0;
  } else if (way < 30) {
    drawn = static_cast<std::size_t>(random.between(1, 300));
  } else if (way < 85) {
    const auto near = static_cast<std::ptrdiff_t>(random.one_of(kThresholds));
    static const std::vector<std::ptrdiff_t> kBeside{0, 0, -1, 1, -8, 8, -64, 64, 100};
    drawn = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, near + random.one_of(kBeside)));
  } else {
    drawn = random.next() % (most + 1);
  }
  return drawn <= most ? drawn : random.next() % (most + 1);
}

int Step::draw_count(int most, std::size_t bytes, std::size_t budget) {
  const int way = random.below(100);
  const int drawn = way < 70   ? random.between(1, std::min(8, most))
                    : way < 95 ? random.between(1, std::min(100, most))
                               : random.between(1, most);
  const std::size_t fits = std::max<std::size_t>(1, budget / std::max<std::size_t>(bytes, 1));
  return static_cast<int>(std::min<std::size_t>(fits, static_cast<std::size_t>(drawn)));
}

void Step::dawdle() {
  const int way = own.below(10);
  if (way == 0) usleep(static_cast<useconds_t>(own.below(3000)));
  if (way == 1) {
    const double until = MPI_Wtime() + own.below(1000) * 1e-6;
    while (MPI_Wtime() < until) {
    }
  }
  if (way == 2) {
    int flag = 0;
    MPI_Iprobe(MPI_PROC_NULL, 0, comm, &flag, MPI_STATUS_IGNORE);
  }
}

void Step::complete(UnderWay& operations) {
  if (own.chance(25)) {
    party.later.take(std::move(operations));
  } else {
    operations.complete(own);
  }
}

void Step::expect(std::span<const unsigned char> got, std::uint64_t key, const char* what, int from,
                  std::size_t at) const {
  const std::size_t found = first_wrong(got, key, at);
  if (found == got.size()) return;
  std::size_t last = got.size() - 1;
  while (got[last] == pattern(key, at + last)) --last;
  wrong(
      text("%s of %zu bytes from %d: byte %zu is %02x, should be %02x; the last wrong byte is %zu",
           what, got.size(), from, found, got[found], pattern(key, at + found), last));
}

void Step::expect_equal(long long got, long long should, const char* what, int from) const {
  if (got != should) wrong(text("%s from %d is %lld, should be %lld", what, from, got, should));
}

void Step::wrong(const std::string& what) const {
  fprintf(stderr, "storm: WRONG seed %llu step %d %s rank %d of %d%s: %s\n",
          static_cast<unsigned long long>(options.seed), number, name.c_str(), rank, size,
          party.in_threads ? " in threads" : "", what.c_str());
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
  abort();
}

void settle(Party& party, Random& random) { party.later.complete(random); }

}  // namespace storm
