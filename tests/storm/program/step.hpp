// The base of every kind of step: who plays, what has been drawn, and what is under way.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "random.hpp"

namespace storm {

/// Operations that have begun, each with what is true, and allowed, once it has completed.
class UnderWay {
 public:
  using Done = std::function<void(const MPI_Status&)>;

  /// Returns the place for the next request, good until the next call.
  MPI_Request* add(Done done = {});
  void take(UnderWay&& others);
  /// Completes them by any of the calls that wait or test, as `random` says.
  void complete(Random& random);
  [[nodiscard]] bool empty() const { return requests_.empty(); }

 private:
  void finished(std::size_t which, const MPI_Status& status);
  void complete_by_one(Random& random);
  void complete_by_any(bool wait);
  void complete_by_some(bool wait);
  void complete_by_all(bool wait);

  std::vector<MPI_Request> requests_;
  std::vector<Done> done_;
};

/// Processes that play steps together on a communicator, one thread of each.
struct Party {
  Party(MPI_Comm of, std::uint64_t seed, bool threads);

  MPI_Comm comm;
  int rank = 0, size = 0;
  std::uint64_t seed;
  bool in_threads;  ///< others play at the same time: nothing that a process has once
  int depth = 0;    ///< of communicators that steps have made
  bool spans;       ///< several clusters
  UnderWay later;   ///< completed during later steps
};

/// One step as one process sees it. All of a party draw the same from `random`, in the same order.
struct Step {
  Step(Party& of, int which, std::string_view kind);

  Party& party;
  MPI_Comm comm;
  int rank, size, number;
  std::string name;
  Random random;
  Random own;  ///< for what need not be the same: delays, the order of calls that is free

  /// Tags of this step, from 0 to 15.
  [[nodiscard]] int tag(int which = 0) const { return number % 2000 * 16 + which; }
  /// For the contents of what belongs to these three numbers. Rank 0 has other
  /// contents if an error is planted.
  [[nodiscard]] std::uint64_t key(int a, int b = 0, int c = 0) const;
  /// For what the plan draws for these three numbers, in no order.
  [[nodiscard]] Random drawn_for(int a, int b = 0, int c = 0) const;
  [[nodiscard]] bool planted(bool gap) const;
  /// Bytes of a message, of at most `most`: mostly near a number that the code compares sizes with.
  std::size_t draw_size(std::size_t most = std::size_t{1} << 20);
  /// Draws a number of operations, mostly few; `bytes`, the size of one, bounds it.
  int draw_count(int most, std::size_t bytes, std::size_t budget = std::size_t{8} << 20);

  /// Does nothing for a while, or computes, or calls MPI: each process its own.
  void dawdle();
  /// Completes these now, or some step later.
  void complete(UnderWay& operations);

  void expect(std::span<const unsigned char> got, std::uint64_t key, const char* what, int from,
              std::size_t at = 0) const;
  void expect_equal(long long got, long long should, const char* what, int from = -1) const;
  /// Tells of what is wrong and ends the run.
  [[noreturn]] void wrong(const std::string& what) const;
};

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

/// The options of the command line.
struct Options {
  std::uint64_t seed = 0;
  int first = 0, last = 30;        ///< steps
  std::vector<std::string> kinds;  ///< all where empty
  std::string trail;               ///< a folder for where each rank is
  std::string files = "/tmp";      ///< a folder for files that steps make
  int plant = -1;                  ///< a step with a deliberate error, which has to be found
  int plant_gap = -1;              ///< the same, in a byte that no message may change
  std::string program;             ///< this one, to be spawned
  // These are the same on all ranks.
  int version = 3;            ///< of MPI, the least of theirs
  bool grid = false;          ///< they are in several clusters
  std::vector<int> clusters;  ///< a number for the cluster of each rank of MPI_COMM_WORLD
};
extern Options options;

/// Plays a step drawn from the kinds that suit the party.
void play(Party& party, int number);
/// Ends what the party still has under way.
void settle(Party& party, Random& random);

}  // namespace storm
