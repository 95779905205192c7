#include "daemon/launch/slurm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const MpiLibrary kOpenMpi{"/lib/libmpi.so.40", "ompi", "ompi-4.1"};
const MpiLibrary kMpich{"/lib/libmpich.so.12", "mpich", "mpich-4.0"};

Site here() {
  Site site;
  site.host = "login";
  return site;
}

// As printed by Slurm 22.05 and 23.11, and by 20.11 on standard error.
TEST(Slurm, TypesOfEveryRelease) {
  EXPECT_THAT(pmi_types("MPI plugin types are...\n\tnone\n\tcray_shasta\n\tpmi2\n\tpmix\n"
                        "specific pmix plugin versions available: pmix_v3,pmix_v4\n"),
              ElementsAre("none", "cray_shasta", "pmi2", "pmix", "pmix_v3", "pmix_v4"));
  EXPECT_THAT(pmi_types("srun: MPI types are...\nsrun: pmix_v3\nsrun: none\nsrun: pmi2\n"),
              ElementsAre("pmix_v3", "none", "pmi2"));
  EXPECT_THAT(pmi_types("srun: error: cannot reach the controller\n"), IsEmpty());
}

TEST(Slurm, EachLibraryGetsWhatItKnows) {
  const std::vector<std::string> all{"none", "pmi2", "pmix", "pmix_v4"};
  EXPECT_EQ(choose_pmi(all, kOpenMpi, here()), "pmix");
  EXPECT_EQ(choose_pmi(all, kMpich, here()), "pmi2");
  EXPECT_EQ(choose_pmi({"none", "pmix_v3"}, kOpenMpi, here()), "pmix_v3");
  EXPECT_EQ(choose_pmi({"none", "pmix"}, kMpich, here()), "pmix");
}

TEST(Slurm, NothingThatFitsIsASentenceWithARemedy) {
  try {
    choose_pmi({"none", "pmi2"}, kOpenMpi, here());
    FAIL() << "it was accepted";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("srun on login offers none, pmi2 for --mpi="));
    EXPECT_THAT(failure.what(), HasSubstr("/lib/libmpi.so.40' need pmix"));
    EXPECT_THAT(failure.remedy(), HasSubstr("launch"));
  }
  EXPECT_THROW(choose_pmi({"none"}, kMpich, here()), Failure);
}

}  // namespace
}  // namespace isthmus::daemon
