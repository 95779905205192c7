// The bytes of a datatype, in the order in which MPI packs them: runs, and repetitions of runs. A
// vector of a million blocks costs as much as one block. A map can travel: made from a datatype
// here, it lands data at a process without that datatype. Pure; immutable once made, so any thread
// may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isthmus::core {

/// Displacements, extents and bounds stay within this, so that the sum of three does not overflow.
inline constexpr std::int64_t kFarthest = std::int64_t{1} << 61;
inline bool in_reach(std::int64_t n) { return n >= -kFarthest && n <= kFarthest; }

/// Bytes one after the other. Offsets count from the address that MPI calls the buffer.
struct Piece {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  int element = 1;  ///< bytes of each basic element in it, as external32 wants to know
};

class TypeMap {
 public:
  /// The limits of a map's nesting, and of its nodes and entries. A datatype of more distinct
  /// blocks than that is described by its bytes in memory: 400 MB.
  static constexpr int kMaxDepth = 64;
  static constexpr std::size_t kMaxParts = std::size_t{1} << 24;

  /// No bytes, extent 0.
  TypeMap() = default;
  /// `size` bytes at offset 0 made of basic elements of `element` bytes; extent `extent`.
  static TypeMap basic(std::int64_t size, std::int64_t extent, int element = 1);

  std::int64_t size() const { return size_; }  ///< bytes of data
  std::int64_t lower() const { return lower_; }
  std::int64_t extent() const { return extent_; }
  std::int64_t true_lower() const { return size_ == 0 ? 0 : nodes_[root_].low; }
  std::int64_t true_upper() const { return size_ == 0 ? 0 : nodes_[root_].high; }
  /// The first byte and the end of `count` elements in a row; empty if that overflows.
  struct Bounds {
    std::int64_t low = 0, high = 0;
  };
  std::optional<Bounds> bounds(std::int64_t count) const;
  /// `count` elements in a row are one run of memory in order (or empty).
  bool run_of(std::int64_t count) const;

  /// No basic element lies before one that comes before it in the map, as filetypes have to be.
  bool grows() const;

  /// The same bytes with other bounds, as MPI_Type_create_resized. Throws std::length_error if
  /// `extent` exceeds kFarthest.
  TypeMap resized(std::int64_t lower, std::int64_t extent) const;

  /// For the wire.
  void encode(std::vector<std::byte>& out) const;
  /// Trusts nothing: bounds, nesting, sums. Empty if the bytes are not exactly one map.
  static std::optional<TypeMap> decode(std::span<const std::byte> bytes);

  bool operator==(const TypeMap&) const = default;

 private:
  friend class TypeMapBuilder;
  friend class TypeCursor;

  enum class Kind : std::uint8_t { Run, Repeat, List };
  struct Node {
    Kind kind = Kind::Run;
    std::uint8_t element = 1;  // Run
    std::uint32_t child = 0;   // Repeat: comes before this node
    std::int64_t size = 0;     // packed bytes, never 0
    std::int64_t count = 1;    // Repeat: times. List: entries
    std::int64_t stride = 0;   // Repeat. List: index of the first entry
    std::int64_t low = 0;      // first byte
    std::int64_t high = 0;     // behind the last byte
    std::int64_t depth = 1;
    bool operator==(const Node&) const = default;
  };
  struct Entry {
    std::int64_t displacement = 0;
    std::int64_t at = 0;  // packed bytes of the list before it
    std::uint32_t child = 0;
    bool operator==(const Entry&) const = default;
  };

  const Entry& entry(const Node& list, std::int64_t i) const {
    return entries_[static_cast<std::size_t>(list.stride + i)];
  }
  /// Adds a node whose parts are there, and works out its bounds. False if numbers overflow or
  /// limits are exceeded.
  bool add(Node node);
  /// Without what the root does not reach; the bounds are the true ones.
  TypeMap compacted() const;

  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
  std::uint32_t root_ = 0;
  std::int64_t size_ = 0, lower_ = 0, extent_ = 0;
};

/// Makes a map of blocks of other maps, in order. Throws std::length_error if numbers overflow or
/// the map's limits are exceeded.
class TypeMapBuilder {
 public:
  /// An element that blocks are made of, copied once.
  struct Element {
    std::uint32_t node = 0;
    std::int64_t extent = 0;
    bool empty = true;
    std::int64_t block = 0;  ///< of the last use
    std::uint32_t block_node = 0;
  };
  Element element(const TypeMap& map);
  /// `count` blocks of `block` elements each, `stride` bytes apart, the first at `displacement`.
  void add(Element& element, std::int64_t block, std::int64_t displacement, std::int64_t count = 1,
           std::int64_t stride = 0);
  void add(const TypeMap& map, std::int64_t block, std::int64_t displacement,
           std::int64_t count = 1, std::int64_t stride = 0);
  /// The bounds are the true ones; `resized` gives others.
  TypeMap build() &&;

 private:
  std::uint32_t run(std::int64_t size, int element);
  /// Several times: merges what is one run.
  std::uint32_t repeat(std::uint32_t child, std::int64_t count, std::int64_t stride);
  std::uint32_t put(const TypeMap::Node& node);
  void place(std::uint32_t child, std::int64_t displacement);

  TypeMap map_;
  std::vector<TypeMap::Entry> list_;
  std::uint32_t merged_ = UINT32_MAX;  // a run that grows with its successors
};

/// A part of an array, as MPI_Type_create_subarray. Extent: the whole array's.
TypeMap subarray_map(const TypeMap& element, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> subsizes, std::span<const std::int64_t> starts,
                     bool c_order);

/// The distribution of one dimension of an array, as in MPI_Type_create_darray.
struct Distribution {
  enum class Kind { None, Block, Cyclic } kind = Kind::None;
  std::int64_t size = 0;      ///< of the array
  std::int64_t argument = 0;  ///< elements that each process gets at a time; 0: the default
  std::int64_t processes = 1;
};
/// The part of process `rank`, processes in row-major order. Extent: the whole array's.
TypeMap darray_map(const TypeMap& element, std::span<const Distribution> dimensions,
                   std::int64_t rank, bool c_order);

/// Goes over the pieces of `count` elements in a row. The map outlives it.
class TypeCursor {
 public:
  TypeCursor(const TypeMap& map, std::int64_t count, std::int64_t position = 0);
  /// Packed bytes before the next piece, and in all. Elements too far away for offsets do not
  /// count.
  std::int64_t position() const { return position_; }
  std::int64_t total() const { return total_; }
  bool done() const { return position_ >= total_; }
  void seek(std::int64_t position);
  /// The next piece, at most `most` bytes of it; length 0 at the end. Neighbours in memory may come
  /// as two pieces.
  Piece next(std::int64_t most);

 private:
  struct Level {
    std::uint32_t node;
    std::int64_t base, index;
  };
  void descend(std::uint32_t node, std::int64_t base, std::int64_t position);
  void step();

  const TypeMap* map_;
  std::int64_t total_, position_ = 0;
  std::int64_t element_ = 0;  // in the row
  std::vector<Level> levels_;
  std::int64_t run_offset_ = 0, run_left_ = 0;
  int run_element_ = 1;
};

/// Copies from the memory of elements into packed bytes, from the cursor on, and back. `memory` is
/// the origin of the offsets. Returns bytes copied: fewer than requested if the elements end.
std::size_t pack(TypeCursor& cursor, const std::byte* memory, std::span<std::byte> packed);
std::size_t unpack(TypeCursor& cursor, std::byte* memory, std::span<const std::byte> packed);

}  // namespace isthmus::core
