// Collective writes of small pieces on grid files. The members send their data to aggregators,
// processes of the home cluster, which write it with few large calls (file/gather.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "file/view.hpp"
#include "mpi/file/gather_steps.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

struct GridFile;

/// A member's terms for gathering writes through its view, for all to decide.
struct GatherTerms {
  std::int64_t displacement = 0;
  std::int64_t piece = 0;       ///< file::typical_piece
  std::uint64_t map_bytes = 0;  ///< of the filetype's map, encoded; 0: it is not to be gathered
  bool aggregates = false;      ///< it can write for others
  auto numbers() { return std::tie(displacement, piece, map_bytes); }
};

using GatheringRef = std::shared_ptr<Gathering>;

/// Whether hints disable gathering.
bool refuses_gathering(MPI_Info info);

GatherTerms gather_terms(const GridFile& file, const file::View& view, MPI_Info info);
/// Collective: `all` are the members' terms. Null: each writes its own pieces.
GatheringRef agree_on_gathering(const GridFile& file, const file::View& view,
                                const std::vector<GatherTerms>& all);

/// The outcome of a gathered write. Read the rest only after ended().
class GatherOutcome {
 public:
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// It has written nothing, as it is not worth gathering: each member writes its own data.
  bool in_vain() const { return in_vain_; }
  /// If the first error is that of a member, all members throw file::Error.
  void check() const {
    if (failure_) throw file::Error(*failure_);
  }
  /// The code of another error, not raised yet; or MPI_SUCCESS.
  int code() const { return code_; }

 private:
  friend class GatheredWrite;
  std::atomic<bool> ended_{false};
  bool in_vain_ = false;
  std::optional<file::Error> failure_;
  int code_ = MPI_SUCCESS;
};
using GatherOutcomeRef = std::shared_ptr<const GatherOutcome>;

/// Bytes of a write, and their owner.
struct KeptBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Collective: writes from byte `position` of the view on, after earlier writes to the file. It has
/// ended when this returns, unless `at_once`: then every wait and test helps it along. `function`
/// is a string literal. `otherwise` is called once if the members do not gather: before the end is
/// visible, by the thread that helps it along, under the progress lock. It neither waits nor
/// throws.
GatherOutcomeRef write_gathered(const std::shared_ptr<GridFile>& file,
                                const GatheringRef& gathering, const char* function,
                                std::int64_t position, KeptBytes data, bool at_once,
                                std::function<void()> otherwise = {});

}  // namespace isthmus::face
