// A row of the table of algorithms: an algorithm's name, its demands, its parameters, its cost, and
// the function that starts it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "coll/engine/collectives.hpp"
#include "coll/engine/network.hpp"
#include "coll/engine/parameters.hpp"

namespace isthmus::coll {

enum class Kind {
  Barrier,
  Bcast,
  Gather,
  Scatter,
  Allgather,
  Alltoall,
  Reduce,
  Allreduce,
  ReduceScatter,
  Scan,
  Exscan,
};
constexpr int kKinds = static_cast<int>(Kind::Exscan) + 1;

/// "bcast", "reduce_scatter": MPI's name without its prefix, in lower case.
std::string_view name_of(Kind kind);

/// All that the choice of an algorithm depends on in a call. Every rank knows it.
struct Problem {
  Kind kind = Kind::Barrier;
  /// Packed bytes. They are the message of bcast, or the vector of one rank in reductions and
  /// scans. In gather, scatter and allgather they are all blocks of all ranks; in alltoall, all
  /// blocks that one rank sends. Empty if some rank does not know.
  std::optional<std::size_t> bytes;
  bool commutative = true;  ///< the operation of a reduction
  int home = -1;            ///< the root's cluster; -1: there is no root
  /// A reduction whose result must not depend on where ranks lie (patterns/rank_tree.hpp).
  bool reproducible = false;

  bool operator==(const Problem&) const = default;
};

class Ways;  // ways.hpp

/// A problem, and the network that it meets.
struct Setting {
  const Layout& layout;
  const Network& network;
  Problem problem;
  /// Set if the ways between clusters differ; `network` is then as this problem meets it.
  const Ways* ways = nullptr;
  std::size_t capacity = 0;  ///< of a post in the commons; 0 without one
  std::size_t bytes() const { return problem.bytes.value_or(0); }
};

/// The demands of an algorithm; all that are set must hold.
struct Demands {
  bool commutative = false;  ///< the operation, or clusters that are blocks of ranks
  bool known_bytes = false;  ///< Problem::bytes
  /// Vectors are cut. Operations that do not commute are the program's own. Some libraries (hypre)
  /// treat a whole vector as one value in them, and native libraries allow that. So it is chosen
  /// only by name for these.
  bool divisible = false;
  /// Chosen only by name: those of papers (bench/papers), whose estimates leave out what the others
  /// overlap.
  bool by_name = false;
  /// Chosen only if all ranks are on one host, or only if they are not, so that transfers can
  /// overlap.
  bool one_host = false, wires = false;
  /// For reproducible reductions. Chosen for these alone, or by name. Those over a commons have the
  /// same order.
  bool ordered = false;
  /// Needs a commons, and data that fits in a post; `pieces`: any data, if vectors may be cut.
  bool commons = false, pieces = false;
};

/// The parameters of an algorithm.
struct Heeds {
  bool segment = false;
  bool senders = false;
};

// Demands that the rows name.
inline constexpr Demands kNothing{};
/// Reduces cluster by cluster: partial results of clusters stand for their ranks.
inline constexpr Demands kRankOrder{.commutative = true};
inline constexpr Demands kCut{.divisible = true};
inline constexpr Demands kRankOrderCutWires{.commutative = true, .divisible = true, .wires = true};
inline constexpr Demands kCutOneHost{.divisible = true, .one_host = true};
inline constexpr Demands kWires{.wires = true};
inline constexpr Demands kOrdered{.ordered = true};
inline constexpr Demands kOrderedCut{.divisible = true, .ordered = true};
inline constexpr Demands kCommons{.commons = true};
inline constexpr Demands kCommonsInPieces{.commons = true, .pieces = true};
inline constexpr Heeds kNone{};
inline constexpr Heeds kSegment{.segment = true};
inline constexpr Heeds kSenders{.segment = true, .senders = true};
inline constexpr std::string_view kMagPIe = "Kielmann et al., MagPIe, PPoPP 1999";
inline constexpr std::string_view kMultilevel =
    "after Karonis et al., Multilevel Hierarchical Matching, IPDPS 2000";
inline constexpr std::string_view kLanes =
    "after Traeff and Hunold, Multi-lane Communication, CLUSTER 2020";
inline constexpr std::string_view kPrefix = "Sanders and Traeff, Parallel Prefix, EuroPVM/MPI 2006";
inline constexpr Demands kKnownBytes{.known_bytes = true};

using RunBarrier = Task (*)(Party&, Parameters);
using RunBcast = Task (*)(Party&, Bytes data, int root, Parameters);
using RunGather = Task (*)(Party&, ConstBytes mine, Bytes all, Sizes sizes, int root, Parameters);
using RunScatter = Task (*)(Party&, ConstBytes all, Sizes sizes, Bytes mine, int root, Parameters);
using RunAllgather = Task (*)(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
using RunAlltoall = Task (*)(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                             Parameters);
using RunReduce = Task (*)(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                           int root, Parameters);
using RunReduceScatter = Task (*)(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                                  Reduction&, Parameters);
/// Allreduce, scan, exscan.
using RunToAll = Task (*)(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                          Parameters);
using Run = std::variant<RunBarrier, RunBcast, RunGather, RunScatter, RunAllgather, RunAlltoall,
                         RunReduce, RunReduceScatter, RunToAll>;

struct Algorithm {
  Kind kind;
  std::string_view name;
  Demands demands;
  Heeds heeds;
  /// Estimated seconds; a parameter of 0 stands for the algorithm's own value.
  double (*cost)(const Setting&, const Parameters&);
  Run run;
  std::string_view source;  ///< the paper or program that it comes from
};

/// All algorithms (table.def), those of one kind adjacent.
std::span<const Algorithm> algorithms();
/// Adds some that are not in the table. Before any is looked up, since they all move.
void add_algorithms(std::span<const Algorithm> rows);
/// Null if the kind does not have an algorithm of that name.
const Algorithm* find_algorithm(Kind kind, std::string_view name);
/// "bcast: magpie, ...", for messages.
std::string names_of_algorithms(Kind kind);

}  // namespace isthmus::coll
