// Makes datatypes by drawn constructors, and keeps account of their bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "datatypes.hpp"

namespace storm {

using Draft = Layout::Draft;
using Piece = Layout::Piece;

/// The pieces of a layout are fewer.
constexpr std::size_t kMostPieces = 4096;

/// A basic datatype.
struct Base {
  const char* name;
  MPI_Datatype type;
  std::vector<Piece> pieces;
  std::size_t size;
};
const std::vector<Base>& bases();

struct Bounds {
  MPI_Aint lower = 0, extent = 0;
};
Bounds bounds(MPI_Datatype type);

/// The places of a draft's first byte, and behind its last.
MPI_Aint first_of(const Draft& draft);
MPI_Aint end_of(const Draft& draft);

class Builder {
 public:
  Builder(Random& random, Rules rules) : random_(random), rules_(rules) {}

  /// `count` elements of a basic datatype.
  Draft run(const Base& base, int count, int depth, std::size_t most);
  /// Drafts behind each other, or at any places.
  Draft together(std::vector<Draft> parts);
  /// The child with bounds that keep its neighbours apart.
  Draft apart(Draft child);
  Draft copies(const Draft& child, int count);

 private:
  static Draft basic(const Base& base) { return {base.type, true, base.pieces, base.name}; }
  static Draft made(MPI_Datatype type, Draft& child, const char* how) {
    Draft draft{type, false, {}, text("%s(%.200s)", how, child.name.c_str())};
    return draft;
  }
  static void place(Draft& draft, const Draft& child, MPI_Aint at) {
    for (const Piece& piece : child.pieces) {
      Piece moved{piece.at + at, piece.bytes};
      if (!draft.pieces.empty() &&
          draft.pieces.back().at + static_cast<MPI_Aint>(draft.pieces.back().bytes) == moved.at) {
        draft.pieces.back().bytes += moved.bytes;
      } else {
        draft.pieces.push_back(moved);
      }
    }
  }
  MPI_Aint gap() {
    return random_.chance(40) ? 0 : random_.between(1, random_.chance(90) ? 5 : 500);
  }
  int divisor(int of, int most);
  std::vector<int> parts_of(int count, int most);

  Draft contiguous(Draft child, int count);
  Draft vector(Draft child, int count);
  Draft listed(Draft child, int count);
  Draft indexed(Draft child, int count, std::size_t most);
  Draft resized(Draft child);
  Draft duplicated(Draft child);
  Draft columns(const Base& base, int count);
  Draft subarray(const Base& base, int count, std::size_t most);
  Draft darray(const Base& base, int count, std::size_t most);
  Draft split(const Base& base, int count, int depth, std::size_t most);

  Random& random_;
  Rules rules_;
};

}  // namespace storm
