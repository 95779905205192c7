// Memory of messages with datatypes. The bytes in the gaps have contents, too, and must keep them.
#pragma once

#include "datatypes.hpp"

namespace storm {

/// A part of the memory: `count` elements of a layout.
struct TypedBlock {
  Layout layout;
  int count;
  MPI_Aint at = 0;  ///< bytes from the address that MPI gets

  [[nodiscard]] std::size_t bytes() const {
    return layout.size() * static_cast<std::size_t>(count);
  }
};

/// Copies share the memory.
class TypedMemory {
 public:
  /// `salt`: the gaps of different memories differ.
  TypedMemory(std::vector<TypedBlock> blocks, std::uint64_t salt);
  TypedMemory(const Counted& counted, std::uint64_t salt)
      : TypedMemory(std::vector<TypedBlock>{{counted.layout, counted.count, 0}}, salt) {}

  /// The address for MPI; its elements may lie before it.
  [[nodiscard]] void* address() const { return bytes_.data() + zero_; }
  [[nodiscard]] const TypedBlock& block(std::size_t which = 0) const { return blocks_[which]; }
  [[nodiscard]] MPI_Datatype type(std::size_t which = 0) const {
    return blocks_[which].layout.type();
  }
  [[nodiscard]] int count(std::size_t which = 0) const { return blocks_[which].count; }

  /// The contents of a block become the pattern of `key`.
  void fill(std::uint64_t key, std::size_t which = 0) const;
  /// All contents and gaps become what they are before a message comes.
  void reset() const;
  /// Contents alone change, as a program may do once an operation has ended.
  void spoil() const;

  /// A block should begin with `bytes` bytes of the pattern of `key`.
  struct Expected {
    std::size_t which;
    std::uint64_t key;
    std::size_t bytes;
    int from;
  };
  /// All else has to be as `reset` left it.
  void expect(const Step& step, const std::vector<Expected>& expected, const char* what) const;
  void expect(const Step& step, std::uint64_t key, const char* what, int from) const;
  /// The contents of the first block are these bytes; those below 0 may be any.
  void expect_bytes(const Step& step, std::span<const int> should, const char* what) const;
  /// Nothing has come.
  void expect_untouched(const Step& step, const char* what) const { expect(step, {}, what); }

 private:
  template <class Visit>
  void visit(std::size_t which, std::size_t bytes, Visit visit) const;

  std::vector<TypedBlock> blocks_;
  std::uint64_t salt_;
  std::size_t zero_ = 0;
  Bytes bytes_{0};
};

/// Puts a block for each of `counts` elements of the layout in any order, with gaps. The places are
/// in extents.
struct Places {
  std::vector<int> counts, places;
};
Places draw_places(Random& random, const std::vector<int>& counts, bool apart);
TypedMemory placed(const Layout& layout, const Places& places, std::uint64_t salt);
/// Blocks of different layouts, in any order.
TypedMemory placed(Random& random, const std::vector<Counted>& blocks, std::uint64_t salt);

}  // namespace storm
