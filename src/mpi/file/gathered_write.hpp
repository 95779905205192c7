// Collective writes of small pieces on grid files: the members send what they write to aggregators,
// processes of the home cluster, which write it with few large calls (file/gather.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "file/view.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

struct GridFile;

/// What a member says of its view, for all to know whether writes through them may be gathered.
struct GatherTerms {
  std::int64_t displacement = 0;
  std::int64_t piece = 0;       ///< file::typical_piece
  std::uint64_t map_bytes = 0;  ///< of the filetype's map, encoded; 0: it is not to be gathered
  bool aggregates = false;      ///< it can write for others
};

/// What all members know of the views of all, by rank.
struct Gathering {
  std::vector<file::View> views;
  std::vector<std::int64_t> pieces;
  std::vector<int> aggregators;  ///< ranks
  bool ended = false;            ///< it was not worth it once, as all know; so until the next view
};
using GatheringRef = std::shared_ptr<Gathering>;

/// Whether hints say that nothing is to be gathered.
bool refuses_gathering(MPI_Info info);

GatherTerms gather_terms(const GridFile& file, const file::View& view, MPI_Info info);
/// Collective: `all` are what the members said. Null: each writes its own pieces.
GatheringRef agree_on_gathering(const GridFile& file, const file::View& view,
                                const std::vector<GatherTerms>& all);

/// Collective: writes `data` from byte `position` of the view on. False: nothing was done, as it is
/// not worth it; each writes its own. Where one member fails all throw its error.
bool write_gathered(const GridFile& file, Gathering& gathering, const char* function,
                    std::int64_t position, std::span<const std::byte> data);

}  // namespace isthmus::face
