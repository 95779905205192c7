#include "mpi/file/gathered_write.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "coll/engine/collectives.hpp"
#include "file/error.hpp"
#include "file/gather.hpp"
#include "mpi/file/file_info.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/making/agreement.hpp"

namespace isthmus::face {
namespace {

// Every member keeps the maps of all: views of more distinct blocks are not gathered.
constexpr std::uint64_t kMostMap = 64 * 1024, kMostMaps = 4 * 1024 * 1024;
constexpr std::size_t kMostAggregators = 16;

/// At most so many of the members that can, evenly among them.
std::vector<int> aggregators_of(const std::vector<GatherTerms>& all) {
  std::vector<int> able, chosen;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].aggregates) able.push_back(static_cast<int>(r));
  }
  const std::size_t wanted = std::min(able.size(), kMostAggregators);
  for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(able[i * able.size() / wanted]);
  return chosen;
}

std::vector<file::Part> told_parts(const GridFile& file, const Gathering& gathering,
                                   std::int64_t position, std::size_t length) {
  const auto told =
      tell_all(file, std::pair(position, position + static_cast<std::int64_t>(length)));
  std::vector<file::Part> parts;
  parts.reserve(told.size());
  for (std::size_t r = 0; r < told.size(); ++r) {
    parts.push_back({&gathering.views[r], told[r].first, told[r].second});
  }
  return parts;
}

/// Calls `work`; what goes wrong with the file is kept, the first of all.
template <class Work>
void attempt(std::optional<file::Error>& failure, Work&& work) {
  try {
    if (!failure) work();
  } catch (const file::Error& error) {
    failure = error;
  }
}

/// One member's part in a gathered write.
class Gatherer {
 public:
  Gatherer(const GridFile& file, const Gathering& gathering, std::vector<file::Part> parts,
           std::span<const std::byte> data)
      : file_(file),
        aggregators_(gathering.aggregators),
        position_(parts[static_cast<std::size_t>(file.rank)].position),
        data_(data),
        rounds_(std::move(parts), static_cast<int>(aggregators_.size())) {
    const auto found = std::find(aggregators_.begin(), aggregators_.end(), file.rank);
    if (found == aggregators_.end()) return;
    mine_ = static_cast<int>(found - aggregators_.begin());
    chunk_.emplace(rounds_.chunk());
  }

  void run(std::optional<file::Error>& failure) {
    for (auto slices = rounds_.next(); !slices.empty(); slices = rounds_.next()) {
      exchange(slices);
      if (chunk_) attempt(failure, [&] { write(slices); });
    }
  }

 private:
  bool is_mine(const file::Slice& slice) const { return slice.aggregator == mine_; }
  static std::size_t length_of(const file::Slice& slice) {
    return static_cast<std::size_t>(slice.to - slice.from);
  }
  std::span<const std::byte> own(const file::Slice& slice) const {
    return data_.subspan(static_cast<std::size_t>(slice.from - position_), length_of(slice));
  }
  bool comes(const file::Slice& slice) const {
    return is_mine(slice) && slice.member != file_.rank;
  }

  /// What others have for this one's chunk is in `received_`, in the order of the slices.
  void exchange(const std::vector<file::Slice>& slices) {
    std::size_t size = 0;
    for (const file::Slice& slice : slices) size += comes(slice) ? length_of(slice) : 0;
    if (size > received_.size()) received_.resize(size);
    std::vector<coll::OutEdge> out;
    std::vector<coll::InEdge> in;
    std::size_t at = 0;
    for (const file::Slice& slice : slices) {
      if (comes(slice)) {
        in.push_back({slice.member, std::span(received_).subspan(at, length_of(slice))});
        at += length_of(slice);
      } else if (slice.member == file_.rank && !is_mine(slice)) {
        const auto to = static_cast<std::size_t>(slice.aggregator);
        out.push_back({aggregators_[to], own(slice)});
      }
    }
    if (out.empty() && in.empty()) return;
    agree(file_.members,
          [&](coll::Party& party) { return coll::neighbors(party, std::move(out), std::move(in)); },
          {.what = "gathered write",
           .failed = "what the members write could not be sent to those that gather it"});
  }

  void write(const std::vector<file::Slice>& slices) {
    chunk_->begin(rounds_.chunk_of(mine_));
    std::size_t at = 0;
    for (const file::Slice& slice : slices) {
      if (!is_mine(slice)) continue;
      std::span<const std::byte> bytes;
      if (comes(slice)) {
        bytes = std::span(received_).subspan(at, length_of(slice));
        at += length_of(slice);
      } else {
        bytes = own(slice);
      }
      chunk_->add(rounds_.view_of(slice.member), slice.from, bytes);
    }
    chunk_->write(*file_.file->storage());
  }

  const GridFile& file_;
  const std::vector<int>& aggregators_;
  const std::int64_t position_;
  const std::span<const std::byte> data_;
  file::Rounds rounds_;
  int mine_ = -1;  // among the aggregators
  std::optional<file::Chunk> chunk_;
  std::vector<std::byte> received_;
};

}  // namespace

bool refuses_gathering(MPI_Info info) {
  return hint_of(info, kGatherHint) == "false" || hint_of(info, "romio_cb_write") == "disable";
}

GatherTerms gather_terms(const GridFile& file, const file::View& view, MPI_Info info) {
  GatherTerms terms{.displacement = view.displacement,
                    .piece = file::typical_piece(view),
                    .map_bytes = 0,
                    .aggregates = file.near && file.file->storage() != nullptr &&
                                  grid()->world().clusters[grid()->cluster].name == file.home};
  if (file.refuses_gathering || refuses_gathering(info) || !view.ascends()) return terms;
  std::vector<std::byte> map;
  view.filetype.encode(map);
  if (map.size() <= kMostMap) terms.map_bytes = map.size();
  return terms;
}

GatheringRef agree_on_gathering(const GridFile& file, const file::View& view,
                                const std::vector<GatherTerms>& all) {
  if (!file.members || !file.members->runs.empty()) return nullptr;
  auto made = std::make_shared<Gathering>();
  made->aggregators = aggregators_of(all);
  std::vector<std::size_t> sizes;
  std::uint64_t total = 0;
  bool small = false;
  for (const GatherTerms& each : all) {
    if (each.map_bytes == 0) return nullptr;
    small = small || (each.piece > 0 && each.piece <= file::kSmallPiece);
    sizes.push_back(each.map_bytes);
    total += each.map_bytes;
    made->pieces.push_back(each.piece);
  }
  if (!small || total > kMostMaps || made->aggregators.empty()) return nullptr;
  std::vector<std::byte> mine, maps(total);
  view.filetype.encode(mine);
  tell_all(file.members, mine, maps, sizes);
  std::size_t at = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    auto map = core::TypeMap::decode(std::span(maps).subspan(at, sizes[r]));
    if (!map) throw coll::Failure(MPI_ERR_OTHER, "another process's view cannot be read");
    made->views.push_back({all[r].displacement, std::move(*map)});
    at += sizes[r];
  }
  return made;
}

bool write_gathered(const GridFile& file, Gathering& gathering, const char* function,
                    std::int64_t position, std::span<const std::byte> data) {
  auto parts = told_parts(file, gathering, position, data.size());
  if (!file::worth_gathering(parts, gathering.pieces)) {
    gathering.ended = true;
    return false;
  }
  std::optional<file::Error> failure;
  // What this process wrote before comes before.
  attempt(failure, [&] { file.run(function, [&] { file.file->settle(); }); });
  Gatherer(file, gathering, std::move(parts), data).run(failure);
  together(file, [&] {
    if (failure) throw *failure;
  });
  return true;
}

}  // namespace isthmus::face
