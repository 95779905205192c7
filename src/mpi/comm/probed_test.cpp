#include "mpi/comm/probed.hpp"

#include <gtest/gtest.h>

namespace isthmus::face {
namespace {

TEST(Probed, TellsTheSourceToTheSamePatternOnly) {
  Probed probed;
  EXPECT_TRUE(probed.none());
  EXPECT_EQ(probed.source_for(5), std::nullopt);
  probed.remember(3, 5);
  EXPECT_FALSE(probed.none());
  EXPECT_EQ(probed.source_for(5), 3);
  // An earlier message of rank 3 with another tag may not be overtaken.
  EXPECT_EQ(probed.source_for(core::kAnyTag), std::nullopt);
  EXPECT_EQ(probed.source_for(6), std::nullopt);
  probed.remember(0, core::kAnyTag);
  EXPECT_EQ(probed.source_for(core::kAnyTag), 0);
  EXPECT_EQ(probed.source_for(5), std::nullopt);
}

TEST(Probed, IsForgottenWhenTheMessageMayHaveBeenTaken) {
  struct Case {
    int probed_tag, source, tag;
    bool forgotten;
  };
  const Case cases[] = {
      {5, 3, 5, true},
      {5, core::kAnySource, 5, true},
      {5, 3, core::kAnyTag, true},
      {core::kAnyTag, 3, 9, true},
      {core::kAnyTag, core::kAnySource, core::kAnyTag, true},
      {5, 2, 5, false},
      {5, 3, 6, false},
      {5, core::kAnySource, 6, false},
      {core::kAnyTag, 2, core::kAnyTag, false},
  };
  for (const Case& c : cases) {
    Probed probed;
    probed.remember(3, c.probed_tag);
    probed.forget(c.source, c.tag);
    EXPECT_EQ(probed.none(), c.forgotten) << c.probed_tag << " " << c.source << " " << c.tag;
  }
}

}  // namespace
}  // namespace isthmus::face
