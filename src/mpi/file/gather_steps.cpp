#include "mpi/file/gather_steps.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "coll/engine/collectives.hpp"
#include "coll/engine/portion.hpp"
#include "core/base/own_order.hpp"
#include "mpi/file/told_error.hpp"

namespace isthmus::face {
namespace {

std::size_t length_of(const file::Slice& slice) {
  return static_cast<std::size_t>(slice.to - slice.from);
}

/// Adds `sentence` to the error of a failed message in `task`.
coll::Task saying(const char* sentence, coll::Task task) {
  try {
    co_await task;
  } catch (const MpiError& failure) {
    throw MpiError(failure.code, std::string(sentence) + ": " + failure.what());
  }
}

/// The item of every member, by rank.
template <class Item>
coll::Task tell(coll::Party& party, const Item& mine, std::vector<Item>& all) {
  const auto members = static_cast<std::size_t>(party.layout().size());
  all.resize(members);
  const Item crossing = core::as_little_endian(mine);
  coll::Task told =
      coll::allgather(party, std::as_bytes(std::span(&crossing, 1)),
                      std::as_writable_bytes(std::span(all)), coll::Sizes(members, sizeof(Item)));
  co_await told;
  core::little_endian(all);
}

}  // namespace

coll::Task tell_views(coll::Party& party, const file::View& mine, std::vector<ViewTerms> all,
                      std::optional<std::vector<file::View>>& views) {
  coll::Sizes sizes;
  for (const ViewTerms& each : all) sizes.push_back(each.map_bytes);
  std::vector<std::byte> map, maps(coll::total(sizes));
  mine.filetype.encode(map);
  coll::Task told = coll::allgather(party, map, maps, sizes);
  co_await told;
  std::vector<file::View> found;
  std::size_t at = 0;
  for (const ViewTerms& each : all) {
    auto filetype = core::TypeMap::decode(std::span(maps).subspan(at, each.map_bytes));
    if (!filetype) co_return;
    found.push_back({each.displacement, std::move(*filetype)});
    at += each.map_bytes;
  }
  views = std::move(found);
}

GatherSteps::GatherSteps(Gathering& gathering, int rank, std::int64_t position,
                         std::span<const std::byte> data, GatherMeans means)
    : gathering_(gathering),
      rank_(rank),
      position_(position),
      data_(data),
      means_(std::move(means)) {
  const auto found = std::find(gathering_.aggregators.begin(), gathering_.aggregators.end(), rank_);
  if (found == gathering_.aggregators.end()) return;
  mine_ = static_cast<int>(found - gathering_.aggregators.begin());
}

std::span<const std::byte> GatherSteps::own(const file::Slice& slice) const {
  return data_.subspan(static_cast<std::size_t>(slice.from - position_), length_of(slice));
}

coll::Task GatherSteps::run(coll::Party& party) {
  if (gathering_.ended) co_return;
  coll::Task places =
      saying("the processes could not tell each other what they write", tell_places(party));
  co_await places;
  if (!file::worth_gathering(parts_, gathering_.pieces)) {
    gathering_.ended = true;
    co_return;
  }
  rounds_.emplace(std::move(parts_), static_cast<int>(gathering_.aggregators.size()));
  if (mine_ >= 0) chunk_.emplace(rounds_->chunk());
  if (means_.settle) {
    coll::Pending settled = attempt(means_.settle);
    co_await settled;
  }
  for (auto slices = rounds_->next(); !slices.empty(); slices = rounds_->next()) {
    coll::Task sent = saying("the data to write could not be sent to the processes that gather it",
                             exchange(party, slices));
    co_await sent;
    if (!chunk_ || failure_) continue;
    coll::Pending written = attempt([this, &slices] { write(slices); });
    co_await written;
  }
  coll::Task failures = saying("the processes could not tell each other whether all is written",
                               tell_failures(party));
  co_await failures;
}

coll::Task GatherSteps::tell_places(coll::Party& party) {
  using Place = std::pair<std::int64_t, std::int64_t>;
  const Place mine(position_, position_ + static_cast<std::int64_t>(data_.size()));
  std::vector<Place> all;
  coll::Task told = tell(party, mine, all);
  co_await told;
  parts_.reserve(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    parts_.push_back({&gathering_.views[r], all[r].first, all[r].second});
  }
}

coll::Task GatherSteps::exchange(coll::Party& party, const std::vector<file::Slice>& slices) {
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
    } else if (slice.member == rank_ && !is_mine(slice)) {
      const auto to = static_cast<std::size_t>(slice.aggregator);
      out.push_back({gathering_.aggregators[to], own(slice)});
    }
  }
  return coll::neighbors(party, std::move(out), std::move(in));
}

coll::Task GatherSteps::tell_failures(coll::Party& party) {
  ToldError mine;
  if (failure_) mine = ToldError(*failure_);
  std::vector<ToldError> all;
  coll::Task told = tell(party, mine, all);
  co_await told;
  failure_.reset();
  try {
    throw_first(all);
  } catch (const file::Error& error) {
    failure_ = error;
  }
}

void GatherSteps::write(const std::vector<file::Slice>& slices) {
  chunk_->begin(rounds_->chunk_of(mine_));
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
    chunk_->add(rounds_->view_of(slice.member), slice.from, bytes);
  }
  chunk_->write(*means_.storage);
}

/// Keeps an error of the file until all members know it.
coll::Pending GatherSteps::attempt(std::function<void()> work) {
  return means_.work([this, work = std::move(work)] {
    try {
      work();
    } catch (const file::Error& error) {
      failure_ = error;
    }
  });
}

}  // namespace isthmus::face
