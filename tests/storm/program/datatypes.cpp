#include "datatypes.hpp"

#include <algorithm>

#include "type_builder.hpp"

namespace storm {

std::size_t Signature::bytes() const {
  std::size_t sum = 0;
  for (const Run& run : runs) {
    sum += bases()[static_cast<std::size_t>(run.base)].size * static_cast<std::size_t>(run.count);
  }
  return sum;
}

Signature draw_signature(Random& random, std::size_t bytes) {
  Signature signature;
  const int runs = random.chance(60) ? 1 : random.between(2, 4);
  for (int i = 0; i < runs; ++i) {
    const int base = random.chance(40) ? 0 : random.below(static_cast<int>(bases().size()));
    const std::size_t each = bases()[static_cast<std::size_t>(base)].size;
    const std::size_t count = bytes / static_cast<std::size_t>(runs) / each;
    signature.runs.push_back({base, std::max(1, static_cast<int>(count))});
  }
  return signature;
}

Layout::Layout(Draft draft)
    : type_(new MPI_Datatype(draft.type), [basic = draft.basic](MPI_Datatype* type) {
        if (!basic && *type != MPI_DATATYPE_NULL) MPI_Type_free(type);
        delete type;
      }) {
  if (!draft.basic) MPI_Type_commit(type_.get());
  extent_ = bounds(draft.type).extent;
  first_ = first_of(draft);
  end_ = end_of(draft);
  for (const Piece& piece : draft.pieces) size_ += piece.bytes;
  draft_ = std::make_shared<const Draft>(std::move(draft));
}

void Layout::free_early() const {
  if (!draft_->basic && *type_ != MPI_DATATYPE_NULL) MPI_Type_free(type_.get());
}

namespace {

// Two elements leave by MPI_Pack and come back by MPI_Unpack, which may write behind their end.
bool library_packs(const Layout& layout) {
  constexpr int kCount = 2;
  const std::size_t bytes = layout.size() * kCount;
  const MPI_Aint zero = (64 - std::min<MPI_Aint>(0, layout.first()) + 15) / 16 * 16;
  const auto room = static_cast<std::size_t>(zero + layout.extent() * (kCount - 1) +
                                             std::max<MPI_Aint>(0, layout.end()) + 4096);
  const Bytes memory(room, 1), packed(bytes + 64), message(bytes, 2);
  Bytes should(room, 1);
  std::size_t position = 0;
  for (int i = 0; i < kCount; ++i) {
    for (const Piece& piece : layout.pieces()) {
      const auto at = static_cast<std::size_t>(zero + i * layout.extent() + piece.at);
      std::copy_n(message.data() + position, piece.bytes, should.data() + at);
      position += piece.bytes;
    }
  }
  int at = 0;
  MPI_Unpack(message.data(), message.count(), &at, memory.data() + zero, kCount, layout.type(),
             MPI_COMM_SELF);
  if (!std::equal(should.all().begin(), should.all().end(), memory.data())) return false;
  at = 0;
  MPI_Pack(should.data() + zero, kCount, layout.type(), packed.data(), packed.count(), &at,
           MPI_COMM_SELF);
  return at == message.count() &&
         std::equal(message.all().begin(), message.all().end(), packed.data());
}

Layout draw_any_layout(Random& random, const Signature& signature, int times, Rules rules) {
  Builder builder(random, rules);
  const auto base = [](const Signature::Run& run) -> const Base& {
    return bases()[static_cast<std::size_t>(run.base)];
  };
  if (signature.runs.size() == 1) {
    const Signature::Run& run = signature.runs[0];
    return Layout(
        builder.apart(builder.run(base(run), run.count * times, rules.depth, kMostPieces)));
  }
  std::vector<Draft> parts;
  const std::size_t most = kMostPieces / signature.runs.size() / static_cast<std::size_t>(times);
  for (const Signature::Run& run : signature.runs) {
    parts.push_back(builder.run(base(run), run.count, rules.depth - 1, most));
  }
  Draft whole = builder.apart(builder.together(std::move(parts)));
  if (times == 1) return Layout(std::move(whole));
  return Layout(builder.apart(builder.copies(whole, times)));
}

}  // namespace

// Open MPI 4.1 packs some structs of vectors wrongly, without Isthmus too (2026-11): such layouts
// are drawn again.
Layout draw_layout(Random& random, const Signature& signature, int times, Rules rules) {
  while (true) {
    const Layout layout = draw_any_layout(random, signature, times, rules);
    if (library_packs(layout)) return layout;
    rules.depth = std::max(0, rules.depth - 1);
  }
}

Counted draw_counted(Random& random, const Signature& signature, int times, Rules rules) {
  std::vector<int> divisors;
  for (int i = 1; i <= times && i <= 64; ++i) {
    if (times % i == 0) divisors.push_back(i);
  }
  const int each = divisors.empty() ? 1 : random.one_of(divisors);
  return {draw_layout(random, signature, each, rules), times / each};
}

}  // namespace storm
