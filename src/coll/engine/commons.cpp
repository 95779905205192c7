#include "coll/engine/commons.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "coll/engine/buffer.hpp"

namespace isthmus::coll {
namespace {

constexpr std::size_t kMostCapacity = std::size_t{512} << 10;
constexpr std::size_t kCapacityOfAll = std::size_t{4} << 20;

constexpr std::size_t aligned(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}
constexpr std::size_t kLine = 64;     // a cache line: posts begin at one
constexpr std::size_t kElement = 16;  // blocks are aligned for any element
std::size_t as_size(int ranks) { return static_cast<std::size_t>(ranks); }

std::size_t block_capacity_of(int ranks) {
  return aligned((Commons::capacity(ranks) + as_size(ranks) - 1) / as_size(ranks), kElement);
}
std::size_t table_bytes(int ranks) {
  return aligned(as_size(ranks) * sizeof(std::uint64_t), kElement);
}
/// Three of the largest posts. Two posts in a row then never overlap, so no rank waits for a round
/// that others cannot begin.
std::size_t place_bytes(int ranks) {
  return 3 * aligned(table_bytes(ranks) + as_size(ranks) * block_capacity_of(ranks), kLine);
}

}  // namespace

std::size_t Commons::capacity(int ranks) {
  return std::min(kMostCapacity, std::bit_floor(kCapacityOfAll / as_size(ranks)));
}

std::size_t Commons::bytes(int ranks) {
  return kMark + as_size(ranks) * (sizeof(Head) + place_bytes(ranks));
}

Commons::Commons(Bytes memory, int ranks, int rank, Sleep& sleep, Codes codes)
    : memory_(memory),
      ranks_(ranks),
      rank_(rank),
      sleep_(sleep),
      codes_(codes),
      block_capacity_(block_capacity_of(ranks)) {}

/// For the posts of one rank, or of all.
class Commons::Wait final : public Operation {
 public:
  Wait(Commons& commons, std::uint32_t round, int first, int last)
      : commons_(commons), round_(round), rank_(first), last_(last) {}

  bool poll() override {
    while (rank_ <= last_ && commons_.has_posted(rank_, round_)) ++rank_;
    return rank_ > last_;
  }

  int near() const override { return rank_ > last_ ? -1 : rank_; }

  void nap(std::chrono::microseconds limit) override {
    if (rank_ > last_) return;
    Head& head = commons_.head(rank_);
    head.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = head.posted.load(std::memory_order_seq_cst);
    if (!commons_.has_posted(rank_, round_)) commons_.sleep_.wait(head.posted, seen, limit);
    head.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  Commons& commons_;
  std::uint32_t round_;
  int rank_, last_;
};

Commons::Head& Commons::head(int rank) const {
  return reinterpret_cast<Head*>(memory_.data() + kMark)[rank];
}

std::byte* Commons::place_of(int rank) const {
  return memory_.data() + kMark + as_size(ranks_) * sizeof(Head) +
         as_size(rank) * place_bytes(ranks_);
}

bool Commons::has_posted(int rank, std::uint32_t round) const {
  const std::uint32_t posted = head(rank).posted.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(posted - round) >= 0;
}

Pending Commons::posted_by(std::uint32_t round, int first, int last) {
  Wait wait(*this, round, first, last);
  return wait.poll() ? Pending() : Pending(std::make_unique<Wait>(wait));
}

Pending Commons::make_room(std::size_t size) { return allot(size, size, 0); }

Pending Commons::make_room_for_blocks(std::size_t largest) {
  const std::size_t spacing = std::max(kElement, aligned(largest, kElement));
  return allot(0, table_bytes(ranks_) + as_size(ranks_) * spacing, spacing);
}

Pending Commons::allot(std::size_t size, std::size_t bytes, std::size_t spacing) {
  // At the place's beginning if all have read the posts there: it is still in caches.
  extent_ = {0, bytes};
  Pending room = posted_by(needed_for(extent_), 0, ranks_ - 1);
  if (!room.done()) {
    const std::size_t next = aligned(extents_[round_ % kDepth].end, kLine);
    if (next + bytes <= place_bytes(ranks_)) extent_ = {next, next + bytes};
    room = posted_by(needed_for(extent_), 0, ranks_ - 1);
  }
  puts_ = true;
  next_ = {.offset = extent_.first, .size = size, .spacing = spacing, .number = 0, .failed = 0};
  return room;
}

std::uint32_t Commons::needed_for(const Extent& extent) const {
  std::uint32_t needed = round_ + 2 - kDepth;
  for (std::uint32_t back = kDepth - 1; back-- > 0;) {
    const Extent& before = extents_[(round_ - back) % kDepth];
    if (before.first < extent.end && extent.first < before.end) needed = round_ - back + 1;
  }
  return needed;
}

Bytes Commons::place() { return {place_of(rank_) + next_.offset, next_.size}; }

void Commons::put(ConstBytes data) { copy(data, place()); }

void Commons::put_block(int to, ConstBytes data) {
  std::byte* const table = place_of(rank_) + next_.offset;
  reinterpret_cast<std::uint64_t*>(table)[to] = data.size();
  copy(data, {table + table_bytes(ranks_) + as_size(to) * next_.spacing, data.size()});
}

void Commons::post() {
  Head& mine = head(rank_);
  const std::uint32_t round = round_ + 1;
  // An empty post leaves its slot unchanged: others may still have to read that.
  if (puts_) {
    next_.number = number_;
    mine.posts[round % kDepth] = next_;
  }
  puts_ = false;
  extents_[round % kDepth] = extent_;
  extent_.first = extent_.end;  // for an empty post
  mine.posted.store(++round_, std::memory_order_seq_cst);
  if (mine.sleepers.load(std::memory_order_seq_cst) != 0) sleep_.wake(mine.posted);
}

void Commons::post_failure() {
  puts_ = true;
  next_ = {};
  next_.failed = 1;
  post();
}

Commons::Post Commons::post_of(int rank) const {
  const Post post = head(rank).posts[round_ % kDepth];
  if (post.number == number_ && post.failed == 0) {
    // These two values locate the blocks in a place.
    const bool good = post.offset % kLine == 0 && post.spacing <= place_bytes(ranks_);
    if (!good) fail_of_nonsense(rank, codes_);
    return post;
  }
  throw MpiError(codes_.absence, "rank " + std::to_string(rank) +
                                     " of the communicator has failed in this collective, or in "
                                     "one before, and takes no part");
}

void Commons::fail_of_nonsense(int rank, Codes codes) {
  throw MpiError(codes.absence, "rank " + std::to_string(rank) +
                                    " of the communicator wrote nonsense into shared memory");
}

ConstBytes Commons::found(int rank, std::uint64_t offset, std::uint64_t size,
                          std::size_t expected) const {
  if (size != expected) {
    throw MpiError(codes_.disagreement,
                   "the ranks disagree about the size of the data: " + std::to_string(expected) +
                       " bytes here, " + std::to_string(size) + " at rank " + std::to_string(rank));
  }
  const std::size_t all = place_bytes(ranks_);
  if (offset > all || expected > all - offset) fail_of_nonsense(rank, codes_);
  return {place_of(rank) + offset, expected};
}

ConstBytes Commons::of(int rank, std::size_t size) const {
  const Post post = post_of(rank);
  return found(rank, post.offset, post.size, size);
}

void Commons::take(int rank, Bytes data) const { copy(of(rank, data.size()), data); }

void Commons::take_block(int rank, Bytes data) const {
  const Post post = post_of(rank);
  const std::size_t table_size = table_bytes(ranks_);
  const ConstBytes table = found(rank, post.offset, table_size, table_size);
  const std::uint64_t size = reinterpret_cast<const std::uint64_t*>(table.data())[rank_];
  const std::uint64_t first = post.offset + table_size + as_size(rank_) * post.spacing;
  copy(found(rank, first, size, data.size()), data);
}

}  // namespace isthmus::coll
