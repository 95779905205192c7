// Runs over a native library that knows a few vectors and counts the questions about them.
#include <gtest/gtest.h>

#include "mpi/datatype/datatype.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {

/// A grid whose address alone is used.
Grid* grid() {
  alignas(Grid) static std::byte memory[sizeof(Grid)];
  return reinterpret_cast<Grid*>(memory);
}

namespace {

// Made from integers, so that no libmpi is needed.
constexpr auto kPair = static_cast<MPI_Datatype>(0x7000'0001);  // two bytes, a gap of two
constexpr auto kOther = static_cast<MPI_Datatype>(0x7000'0002);

int questions = 0, frees = 0;

int get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types, int* combiner) {
  const bool ours = type == kPair || type == kOther;
  *integers = ours ? 3 : 0;
  *addresses = 0;
  *types = ours ? 1 : 0;
  *combiner = ours ? MPI_COMBINER_VECTOR : MPI_COMBINER_NAMED;
  return MPI_SUCCESS;
}
int get_contents(MPI_Datatype, int, int, int, int integers[], MPI_Aint[], MPI_Datatype types[]) {
  ++questions;
  integers[0] = 2;  // blocks
  integers[1] = 1;  // elements in each
  integers[2] = 3;  // elements from one to the next
  types[0] = MPI_BYTE;
  return MPI_SUCCESS;
}
int type_size(MPI_Datatype type, MPI_Count* size) {
  *size = type == MPI_BYTE ? 1 : 2;
  return MPI_SUCCESS;
}
int get_extent(MPI_Datatype type, MPI_Count* lower, MPI_Count* extent) {
  *lower = 0;
  *extent = type == MPI_BYTE ? 1 : 4;
  return MPI_SUCCESS;
}
int type_free(MPI_Datatype* type) {
  ++frees;
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

class Contiguous : public testing::Test {
 protected:
  void SetUp() override {
    native.Type_get_envelope = get_envelope;
    native.Type_get_contents = get_contents;
    native.Type_size_x = type_size;
    native.Type_get_extent_x = get_extent;
    native.Type_free = type_free;
    forget();
    questions = frees = 0;
  }
  /// Frees both, as the cache outlives a test.
  static void forget() {
    for (MPI_Datatype type : {kPair, kOther}) free_type(&type);
  }
};

TEST_F(Contiguous, TheLibraryIsAskedOnceAboutADatatype) {
  MPI_Aint lower = 0;
  EXPECT_FALSE(is_contiguous(1, kPair, &lower));
  EXPECT_EQ(packed_size(3, kPair), 6U);
  EXPECT_EQ(questions, 1);
}

TEST_F(Contiguous, WhatIsFreedIsAskedAboutAgain) {
  EXPECT_EQ(packed_size(1, kPair), 2U);
  MPI_Datatype type = kPair;
  EXPECT_EQ(isthmus_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(packed_size(1, kPair), 2U);
  EXPECT_EQ(questions, 2);
}

TEST_F(Contiguous, KeepingADatatypeForgetsNothing) {
  EXPECT_EQ(packed_size(1, kPair), 2U);
  EXPECT_EQ(packed_size(1, kOther), 2U);
  for (int i = 0; i < 3; ++i) {
    const KeptType kept(kOther);  // as every receive with gaps does
    EXPECT_EQ(kept.get(), kOther);
  }
  EXPECT_EQ(packed_size(1, kPair), 2U);
  EXPECT_EQ(packed_size(1, kOther), 2U);
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(frees, 0);
}

TEST_F(Contiguous, WhatIsKeptIsFreedWhenNoLongerNeeded) {
  {
    const KeptType first(kPair);
    KeptType second(kPair);
    const KeptType third(std::move(second));
    MPI_Datatype type = kPair;
    EXPECT_EQ(isthmus_Type_free(&type), MPI_SUCCESS);
    EXPECT_EQ(type, MPI_DATATYPE_NULL);
    EXPECT_EQ(frees, 0);
  }
  EXPECT_EQ(frees, 1);
}

}  // namespace
}  // namespace isthmus::face
