#include "type_builder.hpp"

#include <algorithm>
#include <numeric>

namespace storm {

const std::vector<Base>& bases() {
  static const std::vector<Base> kAll{
      {"byte", MPI_BYTE, {{0, 1}}, 1},
      {"int16", MPI_INT16_T, {{0, 2}}, 2},
      {"int32", MPI_INT32_T, {{0, 4}}, 4},
      {"double", MPI_DOUBLE, {{0, 8}}, 8},
      {"short_int", MPI_SHORT_INT, {{0, 2}, {4, 4}}, 6},
      {"double_int", MPI_DOUBLE_INT, {{0, 12}}, 12},
  };
  return kAll;
}

namespace {

constexpr MPI_Aint kUnit = 8;  // every base may stand where this divides the address
constexpr MPI_Aint aligned(MPI_Aint at) { return (at + kUnit - 1) / kUnit * kUnit; }

void free_type(Draft& draft) {
  if (!draft.basic && draft.type != MPI_DATATYPE_NULL) MPI_Type_free(&draft.type);
}

}  // namespace

Bounds bounds(MPI_Datatype type) {
  Bounds found;
  MPI_Type_get_extent(type, &found.lower, &found.extent);
  return found;
}

MPI_Aint first_of(const Draft& draft) {
  MPI_Aint first = 0;
  for (std::size_t i = 0; i < draft.pieces.size(); ++i) {
    first = i == 0 ? draft.pieces[i].at : std::min(first, draft.pieces[i].at);
  }
  return first;
}
MPI_Aint end_of(const Draft& draft) {
  MPI_Aint end = first_of(draft);
  for (const Piece& piece : draft.pieces) {
    end = std::max(end, piece.at + static_cast<MPI_Aint>(piece.bytes));
  }
  return end;
}

int Builder::divisor(int of, int most) {
  std::vector<int> found{1};
  for (int i = 2; i <= std::min(of, most); ++i) {
    if (of % i == 0) found.push_back(i);
  }
  return random_.one_of(found);
}

// Some may have nothing.
std::vector<int> Builder::parts_of(int count, int most) {
  std::vector<int> cuts{0, count};
  for (int i = random_.between(0, std::max(0, most - 1)); i > 0; --i) {
    cuts.push_back(random_.below(count + 1));
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<int> parts;
  for (std::size_t i = 1; i < cuts.size(); ++i) parts.push_back(cuts[i] - cuts[i - 1]);
  return parts;
}

Draft Builder::contiguous(Draft child, int count) {
  MPI_Datatype type;
  MPI_Type_contiguous(count, child.type, &type);
  Draft draft = made(type, child, "contiguous");
  const MPI_Aint extent = bounds(child.type).extent;
  for (int i = 0; i < count; ++i) place(draft, child, i * extent);
  free_type(child);
  return draft;
}

// MPI_Type_vector or MPI_Type_create_hvector, whose strides may be negative.
Draft Builder::vector(Draft child, int count) {
  const int length = divisor(count, count), blocks = count / length;
  const MPI_Aint extent = bounds(child.type).extent;
  const bool backwards = !rules_.ascending && random_.chance(30);
  const bool bytes = random_.chance(50);
  MPI_Aint stride =
      bytes ? length * extent + gap() * (extent % kUnit == 0 ? kUnit : extent) : length + gap();
  if (backwards) stride = -stride;
  MPI_Datatype type;
  if (bytes) {
    MPI_Type_create_hvector(blocks, length, stride, child.type, &type);
  } else {
    MPI_Type_vector(blocks, length, static_cast<int>(stride), child.type, &type);
  }
  Draft draft = made(type, child, bytes ? "hvector" : "vector");
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < length; ++j) {
      place(draft, child, i * stride * (bytes ? 1 : extent) + j * extent);
    }
  }
  free_type(child);
  return draft;
}

// Blocks of one length at listed places: MPI_Type_create_indexed_block and its kin in bytes.
Draft Builder::listed(Draft child, int count) {
  const int length = divisor(count, count), blocks = count / length;
  const MPI_Aint extent = bounds(child.type).extent;
  const bool bytes = random_.chance(50);
  std::vector<int> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), 0);
  if (!rules_.ascending) random_.shuffle(order);
  std::vector<MPI_Aint> places(order.size());
  std::vector<int> short_places(order.size());
  MPI_Aint at = rules_.ascending ? gap() : random_.between(-20, 20);
  for (const int which : order) {
    places[static_cast<std::size_t>(which)] = at * extent;
    short_places[static_cast<std::size_t>(which)] = static_cast<int>(at);
    at += length + gap();
  }
  MPI_Datatype type;
  if (bytes) {
    MPI_Type_create_hindexed_block(blocks, length, places.data(), child.type, &type);
  } else {
    MPI_Type_create_indexed_block(blocks, length, short_places.data(), child.type, &type);
  }
  Draft draft = made(type, child, bytes ? "hindexed_block" : "indexed_block");
  for (const MPI_Aint from : places) {
    for (int j = 0; j < length; ++j) place(draft, child, from + j * extent);
  }
  free_type(child);
  return draft;
}

// Blocks of any length, some of none.
Draft Builder::indexed(Draft child, int count, std::size_t most) {
  const std::vector<int> lengths =
      parts_of(count, static_cast<int>(std::min<std::size_t>(most, 60)));
  const MPI_Aint extent = bounds(child.type).extent;
  const bool bytes = random_.chance(50);
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!rules_.ascending) random_.shuffle(order);
  std::vector<MPI_Aint> places(order.size());
  std::vector<int> short_places(order.size());
  MPI_Aint at = rules_.ascending ? gap() : random_.between(-20, 20);
  for (const std::size_t which : order) {
    places[which] = at * extent;
    short_places[which] = static_cast<int>(at);
    at += lengths[which] + gap();
  }
  MPI_Datatype type;
  const int blocks = static_cast<int>(lengths.size());
  if (bytes) {
    MPI_Type_create_hindexed(blocks, lengths.data(), places.data(), child.type, &type);
  } else {
    MPI_Type_indexed(blocks, lengths.data(), short_places.data(), child.type, &type);
  }
  Draft draft = made(type, child, bytes ? "hindexed" : "indexed");
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (int j = 0; j < lengths[i]; ++j) place(draft, child, places[i] + j * extent);
  }
  free_type(child);
  return draft;
}

Draft Builder::resized(Draft child) {
  const MPI_Aint before = rules_.ascending ? 0 : gap() * kUnit;
  MPI_Aint lower = first_of(child) - before;
  if (rules_.ascending) lower = 0;
  const MPI_Aint extent = aligned(end_of(child) - lower) + gap() * kUnit;
  MPI_Datatype type;
  MPI_Type_create_resized(child.type, lower, extent, &type);
  Draft draft = made(type, child, "resized");
  draft.pieces = child.pieces;
  free_type(child);
  return draft;
}

Draft Builder::duplicated(Draft child) {
  MPI_Datatype type;
  MPI_Type_dup(child.type, &type);
  Draft draft = made(type, child, "dup");
  draft.pieces = child.pieces;
  free_type(child);
  return draft;
}

// The columns of a matrix one after the other: copies of a datatype whose extent is one element.
Draft Builder::columns(const Base& base, int count) {
  const int wide = divisor(count, 40), high = count / wide;
  const MPI_Aint extent = bounds(base.type).extent;
  MPI_Datatype column, narrow, type;
  MPI_Type_vector(high, 1, wide, base.type, &column);
  MPI_Type_create_resized(column, 0, extent, &narrow);
  MPI_Type_contiguous(wide, narrow, &type);
  MPI_Type_free(&column);
  MPI_Type_free(&narrow);
  Draft element = basic(base);
  Draft draft = made(type, element, "columns");
  for (int i = 0; i < wide; ++i) {
    for (int j = 0; j < high; ++j) place(draft, element, (j * wide + i) * extent);
  }
  return resized(std::move(draft));
}

// Visits the places of a part of an array, the fastest dimension of `order` innermost.
template <class Visit>
void visit_array(const std::vector<int>& sizes, const std::vector<std::vector<int>>& indices,
                 bool fortran, Visit visit) {
  std::vector<std::size_t> at(sizes.size());
  const std::size_t last = sizes.size() - 1;
  const auto dimension = [&](std::size_t slowness) { return fortran ? slowness : last - slowness; };
  while (true) {
    MPI_Aint place = 0;
    for (std::size_t i = 0; i <= last; ++i) {
      const std::size_t d = dimension(last - i);
      place = place * sizes[d] + indices[d][at[d]];
    }
    visit(place);
    std::size_t i = 0;
    for (; i <= last; ++i) {
      const std::size_t d = dimension(i);
      if (++at[d] < indices[d].size()) break;
      at[d] = 0;
    }
    if (i > last) return;
  }
}

Draft Builder::subarray(const Base& base, int count, std::size_t most) {
  const bool fortran = random_.chance(50);
  std::vector<int> parts;
  int left = count;
  for (int i = random_.between(0, 2); i > 0; --i) {
    parts.push_back(divisor(left, static_cast<int>(std::min<std::size_t>(most, 60))));
    left /= parts.back();
    most = std::max<std::size_t>(1, most / static_cast<std::size_t>(parts.back()));
  }
  parts.push_back(left);
  if (fortran) std::reverse(parts.begin(), parts.end());
  std::vector<int> sizes, starts;
  std::vector<std::vector<int>> indices;
  for (const int part : parts) {
    const int before = static_cast<int>(gap()) % 20, after = static_cast<int>(gap()) % 20;
    starts.push_back(before);
    sizes.push_back(before + part + after);
    indices.emplace_back(static_cast<std::size_t>(part));
    std::iota(indices.back().begin(), indices.back().end(), before);
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(static_cast<int>(parts.size()), sizes.data(), parts.data(),
                           starts.data(), fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, base.type,
                           &type);
  Draft element = basic(base);
  Draft draft = made(type, element, "subarray");
  const MPI_Aint extent = bounds(base.type).extent;
  visit_array(sizes, indices, fortran, [&](MPI_Aint at) { place(draft, element, at * extent); });
  return draft;
}

// The part of one process of a distributed array, of sizes that give it `count` elements.
Draft Builder::darray(const Base& base, int count, std::size_t most) {
  const bool fortran = random_.chance(50);
  std::vector<int> parts;
  int left = count;
  if (random_.chance(60)) {
    parts.push_back(divisor(left, static_cast<int>(std::min<std::size_t>(most, 60))));
    left /= parts.back();
  }
  parts.push_back(left);
  if (fortran) std::reverse(parts.begin(), parts.end());
  std::vector<int> sizes, kinds, arguments, processes;
  std::vector<std::vector<int>> indices;
  int rank = 0, all = 1;
  for (const int part : parts) {
    int p = random_.between(1, 4), c = random_.below(p);
    int way = random_.below(3);
    if (way == 2) p = 1, c = 0;
    indices.emplace_back();
    if (way == 0) {  // blocks
      const int least = std::max((c + 1) * part, (part - 1) * p + 1);
      const int whole = random_.between(least, part * p);
      kinds.push_back(MPI_DISTRIBUTE_BLOCK);
      arguments.push_back(random_.chance(50) ? MPI_DISTRIBUTE_DFLT_DARG : part);
      sizes.push_back(whole);
      for (int i = 0; i < part; ++i) indices.back().push_back(c * part + i);
    } else if (way == 1) {  // cyclic
      const auto many = static_cast<int>(most);
      int k = divisor(part, part);
      if (part / k > many) k = part;
      kinds.push_back(MPI_DISTRIBUTE_CYCLIC);
      arguments.push_back(k == 1 && random_.chance(50) ? MPI_DISTRIBUTE_DFLT_DARG : k);
      sizes.push_back(part * p + random_.below(c * k + 1));
      for (int i = 0; i < part; ++i) indices.back().push_back((i / k * p + c) * k + i % k);
    } else {
      kinds.push_back(MPI_DISTRIBUTE_NONE);
      arguments.push_back(MPI_DISTRIBUTE_DFLT_DARG);
      sizes.push_back(part);
      for (int i = 0; i < part; ++i) indices.back().push_back(i);
    }
    processes.push_back(p);
    rank = rank * p + c;
    all *= p;
  }
  MPI_Datatype type;
  MPI_Type_create_darray(all, rank, static_cast<int>(parts.size()), sizes.data(), kinds.data(),
                         arguments.data(), processes.data(),
                         fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, base.type, &type);
  Draft element = basic(base);
  Draft draft = made(type, element, "darray");
  const MPI_Aint extent = bounds(base.type).extent;
  visit_array(sizes, indices, fortran, [&](MPI_Aint at) { place(draft, element, at * extent); });
  return draft;
}

Draft Builder::split(const Base& base, int count, int depth, std::size_t most) {
  std::vector<Draft> parts;
  for (const int part : parts_of(count, 4)) {
    if (part > 0) parts.push_back(run(base, part, depth - 1, most / 4));
  }
  return together(std::move(parts));
}

Draft Builder::run(const Base& base, int count, int depth, std::size_t most) {
  const bool many = static_cast<std::size_t>(count) > most;  // pieces, if each element is one
  if (depth <= 0 || most < 4) return contiguous(basic(base), count);
  const int blocks = divisor(count, static_cast<int>(std::min<std::size_t>(most, 64)));
  const auto child = [&](int of) {
    return random_.chance(50)
               ? contiguous(basic(base), of)
               : apart(run(base, of, depth - 1, most / static_cast<std::size_t>(blocks)));
  };
  switch (random_.below(11)) {
    case 0:
      return contiguous(basic(base), count);
    case 1:
    case 2:
      return many || random_.chance(50) ? vector(child(count / blocks), blocks)
                                        : vector(basic(base), count);
    case 3:
      return many || random_.chance(50) ? listed(child(count / blocks), blocks)
                                        : listed(basic(base), count);
    case 4:
      return indexed(basic(base), count, most);
    case 5:
      return subarray(base, count, most);
    case 6:
      return darray(base, count, most);
    case 7:
      return resized(run(base, count, depth - 1, most));
    case 8:
      return many || rules_.ascending ? split(base, count, depth, most) : columns(base, count);
    case 9:
      return duplicated(run(base, count, depth - 1, most));
    default:
      return split(base, count, depth, most);
  }
}

Draft Builder::together(std::vector<Draft> parts) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!rules_.ascending) random_.shuffle(order);
  std::vector<MPI_Aint> places(parts.size());
  std::vector<int> ones(parts.size(), 1);
  std::vector<MPI_Datatype> types;
  MPI_Aint at = rules_.ascending ? 0 : random_.between(-40, 10) * kUnit;
  for (const std::size_t which : order) {
    const Draft& part = parts[which];
    // Ascending drafts begin at 0 or behind it, and so does their place.
    const MPI_Aint first = rules_.ascending ? 0 : first_of(part);
    places[which] = aligned(at - first);
    at = places[which] + end_of(part) + gap() * kUnit;
  }
  Draft draft;
  draft.name = "struct(";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    types.push_back(parts[i].type);
    place(draft, parts[i], places[i]);
    draft.name += text("%s%.60s", i > 0 ? ", " : "", parts[i].name.c_str());
  }
  draft.name += ")";
  MPI_Type_create_struct(static_cast<int>(parts.size()), ones.data(), places.data(), types.data(),
                         &draft.type);
  for (Draft& part : parts) free_type(part);
  return draft;
}

Draft Builder::apart(Draft child) {
  const Bounds has = bounds(child.type);
  const bool low = rules_.ascending ? has.lower == 0 : has.lower <= first_of(child);
  const MPI_Aint reach = end_of(child) - (rules_.ascending ? 0 : first_of(child));
  if (low && has.extent >= reach && has.extent % kUnit == 0) return child;
  return resized(std::move(child));
}

Draft Builder::copies(const Draft& child, int count) {
  return random_.chance(50) ? contiguous(child, count) : vector(child, count);
}

}  // namespace storm
