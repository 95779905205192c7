#include "daemon/launch/elevation.hpp"

#include <gtest/gtest.h>

namespace isthmus::daemon {
namespace {

constexpr uid_t kUser = 1000, kOther = 33;

Elevation file(mode_t mode) { return {mode, kUser, kUser, false, false, false, kUser, kUser}; }

TEST(Elevation, APlainProgramGetsNone) {
  EXPECT_FALSE(elevated(file(0755), "/app"));
  EXPECT_FALSE(elevated("/bin/sh"));
  EXPECT_FALSE(elevated("/no/such/file"));
}

TEST(Elevation, OnlyAnotherUsersBitsElevate) {
  Elevation own = file(0755 | S_ISUID | S_ISGID);
  EXPECT_FALSE(elevated(own, "/app"));
  Elevation by_user = own, by_group = own;
  by_user.owner = kOther;
  by_group.group = kOther;
  EXPECT_EQ(elevated(by_user, "/app")->remedy, "chmod u-s /app");
  EXPECT_EQ(elevated(by_group, "/app")->remedy, "chmod g-s /app");
  by_group.mode &= ~S_IXGRP;
  EXPECT_FALSE(elevated(by_group, "/app"));
}

TEST(Elevation, CapabilitiesElevateAllButRoot) {
  Elevation capable = file(0755);
  capable.capabilities = true;
  EXPECT_EQ(elevated(capable, "/app")->what, "has file capabilities");
  capable.user = 0;
  EXPECT_FALSE(elevated(capable, "/app"));
}

TEST(Elevation, WhereTheSystemHonoursNoBitsNoneElevates) {
  Elevation of = file(0755 | S_ISUID);
  of.owner = 0;
  of.no_new_privileges = true;
  EXPECT_FALSE(elevated(of, "/app"));
  of.capabilities = true;
  EXPECT_TRUE(elevated(of, "/app"));
  of.nosuid = true;
  EXPECT_FALSE(elevated(of, "/app"));
}

}  // namespace
}  // namespace isthmus::daemon
