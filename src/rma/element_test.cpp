// The kernels by themselves; the programs compare them with MPI_Reduce_local of each library.
#include "rma/element.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <limits>
#include <vector>

namespace isthmus::rma {
namespace {

template <class T>
T combined(Op op, Number number, T memory, T operand) {
  combine(op, plain(number), reinterpret_cast<std::byte*>(&memory),
          reinterpret_cast<const std::byte*>(&operand), 1);
  return memory;
}

TEST(Element, Numbers) {
  EXPECT_EQ(combined<std::int32_t>(Op::Sum, Number::I32, 40, 2), 42);
  EXPECT_EQ(combined<std::int32_t>(Op::Sum, Number::I32, std::numeric_limits<int>::max(), 1),
            std::numeric_limits<int>::min());
  EXPECT_EQ(combined<std::int16_t>(Op::Prod, Number::I16, 300, 300), std::int16_t(90000 & 0xFFFF));
  EXPECT_EQ(combined<std::uint8_t>(Op::Max, Number::U8, 200, 100), 200);
  EXPECT_EQ(combined<std::int8_t>(Op::Max, Number::I8, -56, 100), 100);
  EXPECT_EQ(combined<double>(Op::Min, Number::F64, 1.5, -2.5), -2.5);
  EXPECT_EQ(combined<std::int64_t>(Op::LogicalXor, Number::I64, 7, 9), 0);
  EXPECT_EQ(combined<std::int64_t>(Op::LogicalAnd, Number::I64, 7, 9), 1);
  EXPECT_EQ(combined<std::uint64_t>(Op::BitXor, Number::U64, 12, 10), 6U);
  EXPECT_EQ(combined<float>(Op::Replace, Number::F32, 1, 2), 2);
  EXPECT_EQ(combined<float>(Op::NoOp, Number::F32, 1, 2), 1);
  EXPECT_EQ(combined<std::complex<float>>(Op::Prod, Number::C32, {0, 1}, {0, 1}),
            std::complex<float>(-1, 0));
  EXPECT_EQ(combined<long double>(Op::Sum, Number::Long, 1.0L, 2.0L), 3.0L);
}

struct DoubleInt {
  double value;
  int index;
};

TEST(Element, PairsHaveGapsInMemoryAndNonePacked) {
  const Element pair =
      pair_of(Number::F64, Number::I32, offsetof(DoubleInt, index), sizeof(DoubleInt));
  EXPECT_TRUE(sound(pair));
  EXPECT_FALSE(pair.gapless());
  std::vector<DoubleInt> memory{{1, 5}, {2, 5}, {3, 5}};
  std::vector<std::byte> operand(3 * pair.packed());
  const auto set = [&](std::size_t i, double value, int index) {
    std::memcpy(operand.data() + i * 12, &value, sizeof value);
    std::memcpy(operand.data() + i * 12 + 8, &index, sizeof index);
  };
  set(0, 4, 1);
  set(1, 2, 3);
  set(2, 2, 4);
  combine(Op::MaxLoc, pair, reinterpret_cast<std::byte*>(memory.data()), operand.data(), 3);
  EXPECT_EQ(memory[0].value, 4);
  EXPECT_EQ(memory[0].index, 1);
  EXPECT_EQ(memory[1].value, 2);
  EXPECT_EQ(memory[1].index, 3) << "of equal values the lower index";
  EXPECT_EQ(memory[2].value, 3);
  EXPECT_EQ(memory[2].index, 5);
  pack(pair, reinterpret_cast<const std::byte*>(memory.data()), operand.data(), 3);
  double value = 0;
  std::memcpy(&value, operand.data() + 24, sizeof value);
  EXPECT_EQ(value, 3);
}

TEST(Element, OnlyWhatMpiAllows) {
  EXPECT_FALSE(combines(Op::Max, plain(Number::C64)));
  EXPECT_FALSE(combines(Op::BitAnd, plain(Number::F32)));
  EXPECT_FALSE(combines(Op::Sum, raw(4)));
  EXPECT_FALSE(combines(Op::MaxLoc, plain(Number::I32)));
  EXPECT_TRUE(combines(Op::Replace, raw(4)));
  Element wrong = plain(Number::F64);
  wrong.value_size = 4;
  EXPECT_FALSE(sound(wrong));
  wrong = pair_of(Number::I32, Number::I32, 2, 8);
  EXPECT_FALSE(sound(wrong)) << "the index lies in the value";
}

}  // namespace
}  // namespace isthmus::rma
