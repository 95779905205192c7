// The view of each rank, and the bytes that a file should have.
#pragma once

#include "datatypes.hpp"

namespace storm {

/// A view of one rank. Every rank knows all views.
struct View {
  MPI_Offset from = 0;  ///< bytes before it
  Signature element;    ///< of the etype
  MPI_Datatype etype = MPI_BYTE;
  std::vector<Layout::Piece> tile;   ///< empty where the rank sees the file as it is
  MPI_Aint extent = 0;               ///< of a tile
  std::shared_ptr<Layout> filetype;  ///< that was drawn; other ranks have another for this view

  /// Makes a filetype where this rank has none.
  void make_filetype();
  [[nodiscard]] MPI_Datatype type() const { return filetype ? filetype->type() : etype; }
  [[nodiscard]] std::size_t tile_bytes() const {
    std::size_t sum = 0;
    for (const Layout::Piece& piece : tile) sum += piece.bytes;
    return sum;
  }
  /// Calls visit(place in the file, position in the data, bytes) for data of the view.
  template <class Visit>
  void visit(std::size_t position, std::size_t bytes, Visit visit) const;
};

/// Views of elements of one kind that do not meet, within each of which `bytes` have room.
std::vector<View> draw_views(Step& step, std::size_t bytes);

/// The bytes of a file. MPI leaves those undefined that nobody has written.
class FileModel {
 public:
  static constexpr int kUnwritten = -1;

  void write(const View& view, std::size_t position, std::size_t bytes, std::uint64_t key);
  [[nodiscard]] std::vector<int> read(const View& view, std::size_t position,
                                      std::size_t bytes) const;
  void resize(std::size_t bytes) { bytes_.resize(bytes, kUnwritten); }
  /// Each is a byte or kUnwritten.
  [[nodiscard]] const std::vector<int>& bytes() const { return bytes_; }

 private:
  std::vector<int> bytes_;
};

template <class Visit>
void View::visit(std::size_t position, std::size_t bytes, Visit visit) const {
  if (tile.empty()) {
    visit(static_cast<std::size_t>(from) + position, std::size_t{0}, bytes);
    return;
  }
  const std::size_t whole = tile_bytes(), end = position + bytes;
  for (std::size_t at = position / whole * whole; at < end;) {
    const auto base = static_cast<MPI_Aint>(from) + static_cast<MPI_Aint>(at / whole) * extent;
    for (const Layout::Piece& piece : tile) {
      const std::size_t first = std::max(at, position), last = std::min(at + piece.bytes, end);
      if (first < last) {
        visit(static_cast<std::size_t>(base + piece.at) + first - at, first - position,
              last - first);
      }
      at += piece.bytes;
    }
  }
}

}  // namespace storm
