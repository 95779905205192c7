// Keeps Isthmus's own messages between a communicator's members in one cluster apart from the
// program's and from each other. They go by the shadow, a native communicator of all processes of
// the cluster, where each communicator has a range of tags. Native libraries have few context ids
// (MPICH 2048), but tags enough.
#pragma once

#include "mpi/native/native.hpp"
#include "mpi/process/free_ranges.hpp"

namespace isthmus::face {

/// A communicator's part of the shadow, from its making to its end. A value that is moved.
class TagRange {
 public:
  /// Empty: the process is alone in its cluster.
  TagRange() = default;
  /// MPI_COMM_WORLD's.
  static TagRange of_world();
  /// The result of a search.
  static TagRange found(int number);
  /// A twin's (comm/twins.hpp), by the number that its members agree on.
  static TagRange of_twin(int number);
  /// All tags of a shadow of its own, if no range was left.
  static TagRange on(MPI_Comm own_shadow);
  TagRange(TagRange&& other) noexcept { *this = std::move(other); }
  TagRange& operator=(TagRange&& other) noexcept;
  ~TagRange();

  MPI_Comm shadow() const { return shadow_; }
  /// The members of the shadow are the communicator's here, not all of the cluster.
  bool own() const { return own_; }
  /// The tag on the shadow for one within the range (traffic.hpp).
  int tag(int within) const { return first_ + within; }
  int courier_tag(int program_tag) const;
  /// Something has failed: unreceived messages may be left, so no communicator may have these tags
  /// again.
  void spoil() { spoilt_ = true; }

 private:
  MPI_Comm shadow_ = MPI_COMM_NULL;
  int number_ = 0;
  int first_ = 0;
  bool own_ = false, spoilt_ = false;
};

/// A process's state for the ranges: part of its Grid.
struct Shadow {
  /// `all` is a native communicator of all processes of the cluster, for this alone; null if the
  /// process is alone in it. Throws std::runtime_error if the native library breaks MPI's promise
  /// of tags, or cannot do this for that many clusters.
  Shadow(int clusters, MPI_Comm all);

  MPI_Comm comm;
  int tag_upper_bound;  ///< MPI_TAG_UB
  int clusters;         ///< the most of a communicator that has a range
  int range_size;
  FreeRanges free;
};

}  // namespace isthmus::face
