// Memory that all ranks of a communicator share if they are on one host: its *commons*. Each rank
// has a place there, where it posts data for the others to read. So a collective of little data
// takes one copy in and one out, and a rank wakes only ranks that sleep.
//
// Ranks post in *rounds*. Every rank posts once in each round, even without data. A post also
// confirms that its rank has finished reading the rounds before. A place holds the posts of several
// rounds, so a rank that posts data seldom waits for slower ranks.
//
// The memory is as untrusted as a socket: other ranks can write anything there. Sizes must match
// the expected sizes; the rest is only data.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// Sleeps at a word of memory that processes share, as the system lets them.
class Sleep {
 public:
  virtual ~Sleep() = default;
  /// While the word is `seen`; for at most `limit`.
  virtual void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                    std::chrono::microseconds limit) = 0;
  virtual void wake(std::atomic<std::uint32_t>& word) = 0;
};

class Commons {
 public:
  /// More would look at each other for longer than messages take.
  static constexpr int kMostRanks = 256;
  /// The most bytes of a post that is one whole; of one of blocks, together about as many.
  static std::size_t capacity(int ranks);
  /// Size of the memory, which is all zeros at first.
  static std::size_t bytes(int ranks);
  /// Bytes at the memory's beginning that the commons does not use: they are for the ranks that
  /// share it.
  static constexpr std::size_t kMark = 64;

  /// Error classes of failures.
  struct Codes {
    int disagreement;  ///< about the size of data
    int absence;       ///< a rank has failed, or is in another collective
  };
  /// Memory and `sleep` outlive it.
  Commons(Bytes memory, int ranks, int rank, Sleep& sleep, Codes codes);

  /// Begins the collective of that number. Only ranks in the same collective may read its posts.
  void begin(std::uint64_t number) { number_ = number; }

  std::size_t capacity() const { return capacity(ranks_); }
  /// The most bytes of a block for one rank.
  std::size_t block_capacity() const { return block_capacity_; }

  // A round: make_room() for the data, put() it, post(), then take() and its like.

  /// Done when this rank's place has room for a post that is one whole.
  Pending make_room(std::size_t size);
  /// The same for a post of one block for each rank; `largest` is the size of the largest block.
  Pending make_room_for_blocks(std::size_t largest);
  /// The whole, or its place.
  void put(ConstBytes data);
  Bytes place();
  void put_block(int to, ConstBytes data);
  /// The round has begun, with the data put; data read before may be overwritten from now on.
  void post();
  /// Instead of post(): the data could not be made. The others learn that, and rounds go on.
  void post_failure();
  /// A rank has posted; all have, or those up to one.
  Pending posted(int rank) { return posted_by(round_, rank, rank); }
  Pending posted_by_all() { return posted_by(round_, 0, ranks_ - 1); }
  Pending posted_up_to(int rank) { return posted_by(round_, 0, rank); }

  // The post of a rank in this round, once it has posted. Throws MpiError if it has another size,
  // or is of another collective.
  ConstBytes of(int rank, std::size_t size) const;
  void take(int rank, Bytes data) const;
  /// Takes its block for this rank.
  void take_block(int rank, Bytes data) const;

 private:
  /// Posts of one rank that its place may hold at a time.
  static constexpr std::uint32_t kDepth = 8;
  /// The location of a post in its place.
  struct Post {
    std::uint64_t offset;
    std::uint64_t size;     // of a whole
    std::uint64_t spacing;  // of blocks, whose sizes are before them; 0: a single whole
    std::uint64_t number;   // of the collective
    std::uint64_t failed;   // 1: the data is missing
  };
  struct alignas(64) Head {
    std::atomic<std::uint32_t> posted;
    std::atomic<std::uint32_t> sleepers;
    alignas(64) Post posts[kDepth];
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  /// This rank's own record of its post's extent.
  struct Extent {
    std::size_t first = 0, end = 0;
  };
  class Wait;

  Pending posted_by(std::uint32_t round, int first, int last);
  Head& head(int rank) const;
  std::byte* place_of(int rank) const;
  bool has_posted(int rank, std::uint32_t round) const;
  Pending allot(std::size_t size, std::size_t bytes, std::size_t spacing);
  /// The round that all must have begun before the extent is written: the one after the last whose
  /// post is overwritten.
  std::uint32_t needed_for(const Extent& extent) const;
  Post post_of(int rank) const;
  /// The memory of a rank's post, which must have `expected` bytes.
  [[noreturn]] static void fail_of_nonsense(int rank, Codes codes);
  ConstBytes found(int rank, std::uint64_t offset, std::uint64_t size, std::size_t expected) const;

  Bytes memory_;
  int ranks_, rank_;
  Sleep& sleep_;
  Codes codes_;
  std::size_t block_capacity_;
  std::uint64_t number_ = 0;
  std::uint32_t round_ = 0;  // this rank's last
  bool puts_ = false;        // in the next round
  Post next_{};              // its next post
  Extent extent_;            // its memory
  Extent extents_[kDepth];   // that of rounds before
};

}  // namespace isthmus::coll
