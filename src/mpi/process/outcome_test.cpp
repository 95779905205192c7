#include "mpi/process/outcome.hpp"

#include <gtest/gtest.h>

#include "coll/engine/party.hpp"

namespace {
int comms_freed = 0;
}
extern "C" int isthmus_Comm_free(MPI_Comm* comm) {
  ++comms_freed;
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

namespace isthmus::face {
namespace {

constexpr MPI_Comm kMade = 42;

int make_well(MPI_Comm* made) {
  *made = kMade;
  return MPI_SUCCESS;
}

TEST(Outcome, WhenAllHaveSucceededThereIsACommunicator) {
  MPI_Comm result = MPI_COMM_NULL;
  bool told = false;
  const auto agree = [&](bool mine) { return told = mine; };
  EXPECT_EQ(make_together(make_well, agree, &result), MPI_SUCCESS);
  EXPECT_TRUE(told);
  EXPECT_EQ(result, kMade);
}

TEST(Outcome, WhoseNativeCallFailedTellsTheOthersAndKeepsItsCode) {
  MPI_Comm result = kMade;
  bool told = true;
  const auto agree = [&](bool mine) { return told = mine; };
  EXPECT_EQ(make_together([](MPI_Comm*) { return MPI_ERR_OTHER; }, agree, &result), MPI_ERR_OTHER);
  EXPECT_FALSE(told);
  EXPECT_EQ(result, MPI_COMM_NULL);
}

TEST(Outcome, WhoseStepThrewTellsTheOthersBeforeItThrows) {
  MPI_Comm result = kMade;
  bool told = true;
  const auto agree = [&](bool mine) { return told = mine; };
  const auto make = [](MPI_Comm*) -> int { throw MpiError(MPI_ERR_OTHER, "no shadow"); };
  EXPECT_THROW(make_together(make, agree, &result), MpiError);
  EXPECT_FALSE(told);
  EXPECT_EQ(result, MPI_COMM_NULL);
}

TEST(Outcome, WhereAnotherFailedWhatWasMadeIsFreed) {
  MPI_Comm result = kMade;
  comms_freed = 0;
  EXPECT_THROW(make_together(
                   make_well, [](bool) { return false; }, &result),
               MpiError);
  EXPECT_EQ(comms_freed, 1);
  EXPECT_EQ(result, MPI_COMM_NULL);
}

TEST(Outcome, WhoGetsNoCommunicatorHasNothingToFree) {
  MPI_Comm result = kMade;
  comms_freed = 0;
  const auto make = [](MPI_Comm*) { return MPI_SUCCESS; };
  EXPECT_THROW(make_together(
                   make, [](bool) { return false; }, &result),
               MpiError);
  EXPECT_EQ(comms_freed, 0);
}

}  // namespace
}  // namespace isthmus::face
