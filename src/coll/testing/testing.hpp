// Shapes, data and reductions for the tests of the collectives.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "coll/engine/collectives.hpp"
#include "coll/testing/memory_party.hpp"

namespace isthmus::coll {

/// Under a sanitizer tests take long, and need not run all of their cases.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif

using Shape = std::vector<int>;  // cluster of each rank

inline std::string name_of(const Shape& shape) {
  std::string name;
  for (const int c : shape) name += static_cast<char>('a' + c);
  return name;
}

namespace detail {
inline void extend(Shape& shape, std::vector<int>& held, int max_held, std::vector<Shape>& shapes) {
  if (!shape.empty()) shapes.push_back(shape);
  const int used = static_cast<int>(held.size());
  for (int c = 0; c <= used && c < 3; ++c) {
    if (c == used) held.push_back(0);
    if (held[static_cast<std::size_t>(c)] < max_held) {
      ++held[static_cast<std::size_t>(c)];
      shape.push_back(c);
      extend(shape, held, max_held, shapes);
      shape.pop_back();
      --held[static_cast<std::size_t>(c)];
    }
    if (c == used) held.pop_back();
  }
}
}  // namespace detail

/// Every way to lay ranks into at most 3 clusters of at most `max_held` ranks, interleaved ways
/// included; clusters are numbered by first appearance.
inline std::vector<Shape> all_shapes(int max_held) {
  std::vector<Shape> shapes;
  Shape shape;
  std::vector<int> held;
  detail::extend(shape, held, max_held, shapes);
  return shapes;
}

/// Number of parts of a test of all shapes, so that no part takes long under a sanitizer.
inline constexpr std::size_t kParts = 8;

/// Blocks, and ranks dealt round, for every choice of up to 3 cluster sizes up to 4.
inline std::vector<Shape> typical_shapes() {
  std::vector<Shape> shapes;
  for (int a = 1; a <= 4; ++a) {
    for (int b = 0; b <= 4; ++b) {
      for (int c = 0; c <= (b > 0 ? 4 : 0); ++c) {
        Shape blocks(static_cast<std::size_t>(a), 0);
        blocks.insert(blocks.end(), static_cast<std::size_t>(b), 1);
        blocks.insert(blocks.end(), static_cast<std::size_t>(c), 2);
        shapes.push_back(blocks);
        Shape dealt;
        for (int i = 0; i < 4; ++i) {
          if (i < a) dealt.push_back(0);
          if (i < b) dealt.push_back(1);
          if (i < c) dealt.push_back(2);
        }
        if (dealt != blocks) shapes.push_back(dealt);
      }
    }
  }
  return shapes;
}

/// Bytes that identify their sender, their receiver and their position.
inline std::vector<std::byte> pattern(std::size_t size, int from, int to) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(from * 37 + to * 101 + static_cast<int>(i % 251) * 7 + 1);
  }
  return bytes;
}

/// Elements of type T under T::then (left, right).
template <class T>
class TestReduction : public Reduction {
 public:
  bool commutative() const override { return T::kCommutative; }
  std::size_t packed_size(std::size_t count) const override { return count * sizeof(T); }
  void combine(ConstBytes in, Bytes inout, std::size_t count) override {
    if (in.size() != packed_size(count) || inout.size() != in.size()) {
      throw MpiError(1, "combine: sizes do not fit the count");
    }
    for (std::size_t i = 0; i < count; ++i) {
      T left, right;
      std::memcpy(&left, in.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&right, inout.data() + i * sizeof(T), sizeof(T));
      const T result = T::then(left, right);
      std::memcpy(inout.data() + i * sizeof(T), &result, sizeof(T));
    }
  }
};

struct Sum {
  static constexpr bool kCommutative = true;
  std::uint64_t value;
  static Sum make(int rank, std::size_t i) {
    return {static_cast<std::uint64_t>(rank + 1) * 1'000'003 + i * 7919};
  }
  static Sum then(Sum a, Sum b) { return {a.value + b.value}; }
  bool operator==(const Sum&) const = default;
};

/// x -> a x + b modulo 2^32, composed: associative, not commutative.
struct Affine {
  static constexpr bool kCommutative = false;
  std::uint32_t a, b;
  static Affine make(int rank, std::size_t i) {
    return {static_cast<std::uint32_t>(2 * rank + 3),
            static_cast<std::uint32_t>(i * 31 + 17) + static_cast<std::uint32_t>(rank * rank)};
  }
  static Affine then(Affine l, Affine r) { return {l.a * r.a, r.a * l.b + r.b}; }
  bool operator==(const Affine&) const = default;
};

/// Rounding makes the result depend on the order of additions.
struct Float {
  static constexpr bool kCommutative = true;
  float value;
  static Float make(int rank, std::size_t i) {
    return {1.0F / static_cast<float>(3 * rank + 1) + static_cast<float>(i) * 1e-3F};
  }
  static Float then(Float a, Float b) { return {a.value + b.value}; }
  std::uint32_t bits() const { return std::bit_cast<std::uint32_t>(value); }
};

inline bool same_bits(const std::vector<Float>& a, const std::vector<Float>& b) {
  return std::ranges::equal(a, b, {}, &Float::bits, &Float::bits);
}

template <class T>
std::vector<T> contribution(int rank, std::size_t count) {
  std::vector<T> elements;
  for (std::size_t i = 0; i < count; ++i) elements.push_back(T::make(rank, i));
  return elements;
}

/// The reduction of ranks first..last, in rank order.
template <class T>
std::vector<T> expected(int first, int last, std::size_t count) {
  auto result = contribution<T>(first, count);
  for (int r = first + 1; r <= last; ++r) {
    for (std::size_t i = 0; i < count; ++i) result[i] = T::then(result[i], T::make(r, i));
  }
  return result;
}

/// Ways between up to 4 clusters: all alike; 0 and 1 near each other and 2 and 3, the rest far;
/// any.
inline Network network_for(std::uint64_t seed) {
  Network network;
  if (seed % 4 == 0) return network;
  Pairs pairs;
  std::mt19937_64 random(seed);
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const double any = static_cast<double>(1 + random() % 50) * 1e-3;
      const double near_or_far = a / 2 == b / 2 ? 1e-3 : 50e-3;
      pairs.ways.push_back({a, b, seed % 4 == 1 ? near_or_far : any, 0});
    }
  }
  network.pairs = std::make_shared<const Pairs>(std::move(pairs));
  return network;
}

inline std::size_t as_index(int rank) { return static_cast<std::size_t>(rank); }

using Data = std::vector<std::byte>;
using PerRank = std::vector<Data>;

/// Sizes by rank: equal ones, or uneven ones with empty blocks among them.
inline Sizes sizes_for(std::size_t ranks, std::size_t base, bool uneven) {
  Sizes sizes;
  for (std::size_t r = 0; r < ranks; ++r) sizes.push_back(uneven ? base * ((r * 2 + 1) % 4) : base);
  return sizes;
}

inline Data concatenated(const Sizes& sizes, int to) {
  Data all;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    const Data block = pattern(sizes[r], static_cast<int>(r), to);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

/// A reduction under test: each rank's operands, and room for its result.
template <class T>
struct Trial {
  Trial(const Shape& shape, std::uint64_t seed, std::size_t count)
      : ranks(shape.size()), grid(shape, seed) {
    for (int r = 0; r < static_cast<int>(ranks); ++r) {
      in.push_back(contribution<T>(r, count));
      out.push_back(contribution<T>(99, count));
    }
  }
  ConstBytes in_of(const Party& party) {
    return std::as_bytes(std::span(in[as_index(party.rank())]));
  }
  Bytes out_of(const Party& party) {
    return std::as_writable_bytes(std::span(out[as_index(party.rank())]));
  }
  std::size_t ranks;
  MemoryGrid grid;
  TestReduction<T> reduction;
  std::vector<std::vector<T>> in, out;
};

}  // namespace isthmus::coll
