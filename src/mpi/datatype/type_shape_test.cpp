#include "mpi/datatype/type_shape.hpp"

#include <gtest/gtest.h>

#include <array>

namespace isthmus::face {
namespace {

constexpr Shape kInt{.run = true, .lower = 0, .size = 4, .extent = 4};
constexpr Shape kDoubleInt{.run = false, .lower = 0, .size = 12, .extent = 16};
constexpr Shape kSpacedInt{.run = true, .lower = 0, .size = 4, .extent = 8};

TEST(TypeShape, ElementsInARowNeedAnExtentOfTheirSize) {
  EXPECT_TRUE(kInt.run_of(7));
  EXPECT_TRUE(kSpacedInt.run_of(1));
  EXPECT_FALSE(kSpacedInt.run_of(2));
  EXPECT_FALSE(kDoubleInt.run_of(1));
}

TEST(TypeShape, VectorIsARunWhenItsBlocksTouch) {
  EXPECT_TRUE(vector_shape(kInt, 3, 2, 8).run);
  EXPECT_EQ(vector_shape(kInt, 3, 2, 8).size, 24);
  EXPECT_FALSE(vector_shape(kInt, 3, 2, 12).run);
  EXPECT_TRUE(vector_shape(kInt, 1, 2, 12).run);
  EXPECT_FALSE(vector_shape(kInt, 2, 1, -4).run);  // backwards
  EXPECT_FALSE(vector_shape(kInt, 2, 1, 0).run);   // over itself
  EXPECT_TRUE(vector_shape(kInt, 0, 2, 12).run);
  EXPECT_EQ(vector_shape(kInt, 0, 2, 12).size, 0);
}

TEST(TypeShape, StructFollowsTheOrderOfTheTypeMap) {
  ShapeBuilder forward;
  forward.add(kInt, 1, 16);
  forward.add(kInt, 2, 20);
  EXPECT_TRUE(forward.shape().run);
  EXPECT_EQ(forward.shape().lower, 16);
  EXPECT_EQ(forward.shape().size, 12);

  ShapeBuilder backward;  // no gap, but the wrong order
  backward.add(kInt, 1, 4);
  backward.add(kInt, 1, 0);
  EXPECT_FALSE(backward.shape().run);

  ShapeBuilder gap;
  gap.add(kInt, 1, 0);
  gap.add(kInt, 1, 8);
  EXPECT_FALSE(gap.shape().run);
}

TEST(TypeShape, LongDoubleIsSeenWhereverItIs) {
  constexpr Shape kLongDouble{.run = true, .size = 16, .extent = 16, .long_double = "it"};
  EXPECT_STREQ(vector_shape(kLongDouble, 2, 3, 64).long_double, "it");
  EXPECT_EQ(vector_shape(kLongDouble, 0, 3, 64).long_double, nullptr);
  EXPECT_EQ(vector_shape(kInt, 2, 3, 64).long_double, nullptr);

  ShapeBuilder builder;
  builder.add(kInt, 1, 0);
  builder.add(kLongDouble, 0, 16);  // no byte of it
  EXPECT_EQ(builder.shape().long_double, nullptr);
  builder.add(kLongDouble, 1, 16);
  builder.add(kInt, 1, 32);
  EXPECT_STREQ(builder.shape().long_double, "it");

  constexpr std::array sizes{4, 4}, part{2, 2}, starts{1, 1};
  EXPECT_STREQ(subarray_shape(kLongDouble, sizes, part, starts, true).long_double, "it");
}

TEST(TypeShape, EmptyBlocksDoNotMatter) {
  ShapeBuilder builder;
  builder.add(kInt, 0, 100);
  builder.add(kInt, 1, 4);
  builder.add(kDoubleInt, 0, 0);
  builder.add(kInt, 1, 8);
  EXPECT_TRUE(builder.shape().run);
  EXPECT_EQ(builder.shape().lower, 4);
  EXPECT_TRUE(ShapeBuilder().shape().run);
}

TEST(TypeShape, SubarrayIsARunWhenItTakesFastDimensionsWhole) {
  const std::array sizes{4, 5}, rows{2, 5}, columns{4, 2}, piece{1, 3}, starts{1, 0};
  EXPECT_TRUE(subarray_shape(kInt, sizes, rows, starts, true).run);
  EXPECT_EQ(subarray_shape(kInt, sizes, rows, starts, true).lower, 20);
  EXPECT_EQ(subarray_shape(kInt, sizes, rows, starts, true).size, 40);
  EXPECT_FALSE(subarray_shape(kInt, sizes, rows, starts, false).run);
  const std::array corner{0, 0};
  EXPECT_FALSE(subarray_shape(kInt, sizes, columns, corner, true).run);
  EXPECT_TRUE(subarray_shape(kInt, sizes, columns, corner, false).run);
  EXPECT_TRUE(subarray_shape(kInt, sizes, piece, starts, true).run);
  EXPECT_FALSE(subarray_shape(kInt, sizes, piece, starts, false).run);
  EXPECT_FALSE(subarray_shape(kSpacedInt, sizes, rows, starts, true).run);
}

}  // namespace
}  // namespace isthmus::face
