// One member's part in a gathered write: its messages and its work between them. Uses coll::Party
// and file::Storage alone, so that tests have both in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "coll/engine/party.hpp"
#include "file/error.hpp"
#include "file/gather.hpp"
#include "file/storage.hpp"

namespace isthmus::face {

/// The knowledge of all members about everyone's views, by rank.
struct Gathering {
  std::vector<file::View> views;
  std::vector<std::int64_t> pieces;
  std::vector<int> aggregators;  ///< ranks
  /// A write was not worth gathering, as all members know; this stays so until the next view. Only
  /// the writes use it, one after the other.
  bool ended = false;
};

/// The knowledge of all members about a member's view before they have its map.
struct ViewTerms {
  std::int64_t displacement = 0;
  std::size_t map_bytes = 0;  ///< of the filetype's map, encoded
};

/// Collective: the views of all members, by rank; empty in all of them if one cannot be read.
/// Throws MpiError.
coll::Task tell_views(coll::Party& party, const file::View& mine, std::vector<ViewTerms> all,
                      std::optional<std::vector<file::View>>& views);

/// The means of a member.
struct GatherMeans {
  /// Runs blocking work, in the order in which it is given; poll() throws its exception.
  std::function<coll::Pending(std::function<void()>)> work;
  /// Waits for this process's earlier writes, which come first; empty: they have come.
  std::function<void()> settle;
  file::Storage* storage = nullptr;  ///< of an aggregator
};

/// Outlives its task.
class GatherSteps {
 public:
  /// For bytes from `position` of this member's view on.
  GatherSteps(Gathering& gathering, int rank, std::int64_t position,
              std::span<const std::byte> data, GatherMeans means);

  /// Collective. Throws MpiError if members do not hear of each other.
  coll::Task run(coll::Party& party);

  /// After run(). False: nothing was written, as it is not worth gathering; each writes its own
  /// data.
  bool gathered() const { return rounds_.has_value(); }
  /// After run(): the first member's error, the same in all.
  const std::optional<file::Error>& failure() const { return failure_; }

 private:
  coll::Task tell_places(coll::Party& party);
  coll::Task exchange(coll::Party& party, const std::vector<file::Slice>& slices);
  coll::Task tell_failures(coll::Party& party);
  void write(const std::vector<file::Slice>& slices);
  coll::Pending attempt(std::function<void()> work);

  bool is_mine(const file::Slice& slice) const { return slice.aggregator == mine_; }
  bool comes(const file::Slice& slice) const { return is_mine(slice) && slice.member != rank_; }
  std::span<const std::byte> own(const file::Slice& slice) const;

  Gathering& gathering_;
  const int rank_;
  const std::int64_t position_;
  const std::span<const std::byte> data_;
  const GatherMeans means_;
  int mine_ = -1;  // among the aggregators
  std::vector<file::Part> parts_;
  std::optional<file::Rounds> rounds_;
  std::optional<file::Chunk> chunk_;
  std::vector<std::byte> received_;  // for the own chunk, in the order of the slices
  std::optional<file::Error> failure_;
};

}  // namespace isthmus::face
