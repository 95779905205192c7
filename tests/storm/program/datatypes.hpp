// Datatypes of every constructor, with the bytes that each describes.
#pragma once

#include <memory>
#include <string>

#include "step.hpp"

namespace storm {

/// The elements of a message, in order: what sender and receiver must agree about.
struct Signature {
  struct Run {
    int base;  ///< an index of bases()
    int count;
  };
  std::vector<Run> runs;

  [[nodiscard]] std::size_t bytes() const;
};

/// The first of the bases() whose elements are two numbers.
constexpr int kPairs = 4;

/// Draws about `bytes` bytes, at least one element.
Signature draw_signature(Random& random, std::size_t bytes);

/// A committed datatype. Copies share it; the last one frees it.
class Layout {
 public:
  struct Piece {
    MPI_Aint at;  ///< from the address of the element
    std::size_t bytes;
  };
  /// A constructor makes it of a basic datatype or of other layouts.
  struct Draft {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    bool basic = false;
    std::vector<Piece> pieces;  ///< in the order in which they travel
    std::string name;
  };

  explicit Layout(Draft draft);

  [[nodiscard]] MPI_Datatype type() const { return *type_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return draft_->pieces; }
  [[nodiscard]] const std::string& name() const { return draft_->name; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] MPI_Aint extent() const { return extent_; }
  /// These are the places of the first byte of an element, and behind its last.
  [[nodiscard]] MPI_Aint first() const { return first_; }
  [[nodiscard]] MPI_Aint end() const { return end_; }
  /// MPI lets a program free a datatype that operations under way use.
  void free_early() const;

 private:
  std::shared_ptr<const Draft> draft_;
  std::shared_ptr<MPI_Datatype> type_;
  std::size_t size_ = 0;
  MPI_Aint extent_ = 0, first_ = 0, end_ = 0;
};

struct Rules {
  bool ascending = false;  ///< as MPI asks of file types: from 0 on, and never backwards
  int depth = 3;           ///< constructors within each other
};

/// A datatype of `times` signatures. Elements of it in a row do not overlap.
Layout draw_layout(Random& random, const Signature& signature, int times, Rules rules = {});

/// Returns a layout and how many of it hold `times` signatures.
struct Counted {
  Layout layout;
  int count;
};
Counted draw_counted(Random& random, const Signature& signature, int times, Rules rules = {});

}  // namespace storm
