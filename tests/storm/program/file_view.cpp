#include "file_view.hpp"

#include <algorithm>
#include <cstdint>

namespace storm {

namespace {

// Ranks take turns within a tile. A rank's part is one of the datatypes that lists places.
std::vector<View> interleaved(Step& step, const Signature& element, MPI_Datatype etype) {
  struct Slot {
    int owner, at, length;
  };
  std::vector<Slot> slots;
  int at = 0;
  const int most = step.random.one_of<int>({1, 4, 50, 3000});
  const int rounds = step.random.between(1, 4);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < step.size; ++i) {
      if (step.random.chance(10)) at += step.random.between(1, most);  // nobody's
      const int owner = round == 0 ? i : step.random.below(step.size);
      slots.push_back({owner, at, step.random.between(1, most)});
      at += slots.back().length;
    }
  }
  const auto unit = static_cast<MPI_Aint>(element.bytes());
  std::vector<View> views(static_cast<std::size_t>(step.size));
  for (View& view : views) view = {0, element, etype, {}, at * unit, nullptr};
  for (const Slot& slot : slots) {
    views[static_cast<std::size_t>(slot.owner)].tile.push_back(
        {slot.at * unit, static_cast<std::size_t>(slot.length * unit)});
  }
  return views;
}

// Each rank has a stretch of the file, with a layout of its own there, which all learn: libraries
// draw other ones.
std::vector<View> apart(Step& step, const Signature& element, MPI_Datatype etype,
                        std::size_t bytes) {
  const int count = step.own.between(1, step.own.chance(70) ? 40 : 2000);
  const Signature signature{{{element.runs[0].base, count}}};
  const Layout mine = draw_layout(step.own, signature, 1, {.ascending = true});
  std::vector<std::int64_t> words{mine.extent()};
  for (const Layout::Piece& piece : mine.pieces()) {
    words.push_back(piece.at);
    words.push_back(static_cast<std::int64_t>(piece.bytes));
  }
  std::vector<int> lengths(static_cast<std::size_t>(step.size)), places(lengths.size());
  const int length = static_cast<int>(words.size());
  MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, step.comm);
  int sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) places[i] = sum, sum += lengths[i];
  std::vector<std::int64_t> all(static_cast<std::size_t>(sum));
  MPI_Allgatherv(words.data(), length, MPI_INT64_T, all.data(), lengths.data(), places.data(),
                 MPI_INT64_T, step.comm);
  std::vector<View> views;
  MPI_Offset from = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t* its = &all[static_cast<std::size_t>(places[i])];
    View view{from, element, etype, {}, static_cast<MPI_Aint>(its[0]), nullptr};
    for (int j = 1; j < lengths[i]; j += 2) {
      view.tile.push_back({static_cast<MPI_Aint>(its[j]), static_cast<std::size_t>(its[j + 1])});
    }
    from += static_cast<MPI_Offset>(bytes / view.tile_bytes() + 2) * view.extent;
    views.push_back(std::move(view));
  }
  views[static_cast<std::size_t>(step.rank)].filetype = std::make_shared<Layout>(mine);
  return views;
}

}  // namespace

void View::make_filetype() {
  if (filetype || tile.empty()) return;
  const auto unit = static_cast<MPI_Aint>(element.bytes());
  const int count = static_cast<int>(tile.size());
  std::vector<int> lengths, places;
  std::vector<MPI_Aint> bytes;
  for (const Layout::Piece& piece : tile) {
    lengths.push_back(static_cast<int>(piece.bytes) / static_cast<int>(unit));
    places.push_back(static_cast<int>(piece.at / unit));
    bytes.push_back(piece.at);
  }
  Layout::Draft draft;
  draft.pieces = tile;
  draft.name = "resized(struct)";
  MPI_Datatype listed;
  const std::vector<MPI_Datatype> types(tile.size(), etype);
  if (count % 2 == 0) {
    MPI_Type_create_struct(count, lengths.data(), bytes.data(), types.data(), &listed);
  } else {
    draft.name = "resized(indexed)";
    MPI_Type_indexed(count, lengths.data(), places.data(), etype, &listed);
  }
  MPI_Type_create_resized(listed, 0, extent, &draft.type);
  MPI_Type_free(&listed);
  filetype = std::make_shared<Layout>(std::move(draft));
}

std::vector<View> draw_views(Step& step, std::size_t bytes) {
  // Elements of one base, whose extent is its size.
  const auto [base, etype] = step.random.one_of<std::pair<int, MPI_Datatype>>(
      {{0, MPI_BYTE}, {0, MPI_BYTE}, {2, MPI_INT32_T}, {3, MPI_DOUBLE}});
  const Signature element{{{base, 1}}};
  const int way = step.random.below(5);
  std::vector<View> views;
  if (way == 0) {
    for (int rank = 0; rank < step.size; ++rank) {
      View view;
      view.from = static_cast<MPI_Offset>(rank) * static_cast<MPI_Offset>(bytes + 100);
      view.element = element;
      view.etype = etype;
      views.push_back(view);
    }
  } else {
    views = way < 4 ? interleaved(step, element, etype) : apart(step, element, etype, bytes);
  }
  const MPI_Offset before = step.random.chance(50) ? 0 : step.random.below(5000);
  for (View& view : views) {
    view.from += before;
    view.make_filetype();
  }
  return views;
}

void FileModel::write(const View& view, std::size_t position, std::size_t bytes,
                      std::uint64_t key) {
  view.visit(position, bytes, [&](std::size_t place, std::size_t at, std::size_t n) {
    if (n > 0 && bytes_.size() < place + n) resize(place + n);
    for (std::size_t i = 0; i < n; ++i) bytes_[place + i] = pattern(key, at + i);
  });
}

std::vector<int> FileModel::read(const View& view, std::size_t position, std::size_t bytes) const {
  std::vector<int> got(bytes, kUnwritten);
  view.visit(position, bytes, [&](std::size_t place, std::size_t at, std::size_t n) {
    const std::size_t has = place < bytes_.size() ? std::min(n, bytes_.size() - place) : 0;
    std::copy_n(bytes_.data() + place, has, got.data() + at);
  });
  return got;
}

}  // namespace storm
