#include "daemon/agent/examine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "daemon/host/host.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

TEST(Examine, SettingsByTheirNames) {
  const fs::path root = fs::path(testing::TempDir()) / "examine-sys";
  fs::create_directories(root / "net/ipv4");
  std::ofstream(root / "net/ipv4/tcp_rmem") << "4096\t131072\t6291456\n";
  const auto found = examine_tcp(root.string());
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(found.value("net.ipv4.tcp_rmem", ""), "4096 131072 6291456");
  fs::remove_all(root);
}

// Imitates /proc and /sys for a process that is in `groups`.
bool by_session(const std::string& setting, const std::string& groups, const std::string& unified) {
  const fs::path root = fs::path(testing::TempDir()) / "examine-cores";
  fs::create_directories(root / "proc/sys/kernel");
  fs::create_directories(root / "proc/self");
  fs::create_directories(root / "sys/fs/cgroup");
  std::ofstream(root / "proc/sys/kernel/sched_autogroup_enabled") << setting;
  std::ofstream(root / "proc/self/cgroup") << groups;
  std::ofstream(root / "sys/fs/cgroup/cgroup.subtree_control") << unified;
  const bool found = shares_cores_by_session(root.string());
  fs::remove_all(root);
  return found;
}

TEST(Examine, CoresAreSharedOutBySessionOutsideOfGroups) {
  EXPECT_TRUE(by_session("1\n", "4:memory:/one\n1:cpu:/\n0::/\n", ""));
  EXPECT_TRUE(by_session("1\n", "0::/user.slice/user-1.slice\n", "memory pids\n"));
  EXPECT_FALSE(by_session("0\n", "1:cpu:/\n", ""));
  EXPECT_FALSE(by_session("1\n", "3:cpu,cpuacct:/one\n0::/\n", ""));
  EXPECT_FALSE(by_session("1\n", "0::/user.slice/user-1.slice\n", "memory cpu pids\n"));
  EXPECT_FALSE(by_session("", "", ""));
}

TEST(Examine, LoopbackIsAmongTheInterfaces) {
  for (const auto& entry : examine_interfaces()) {
    if (entry["name"] != "lo") continue;
    EXPECT_GT(entry["mtu"], 0);
    EXPECT_FALSE(entry["addresses"].empty());
    return;
  }
  GTEST_SKIP() << "there is no loopback here";
}

TEST(Examine, PrefixWithoutMpiIsAnErrorThatNamesIt) {
  const auto found = examine_mpi({"/no/such/mpi", ""}, "/proc/self/exe");
  ASSERT_TRUE(found.contains("error"));
  EXPECT_NE(found["error"].get<std::string>().find("/no/such/mpi"), std::string::npos);
  EXPECT_FALSE(found["remedy"].get<std::string>().empty());
}

TEST(Examine, ALineOfFactsThenTheTimeWhenAsked) {
  std::istringstream in("clock\nclock\n");
  std::ostringstream out;
  EXPECT_EQ(run_examine({"/no/such/mpi", ""}, "/proc/self/exe", in, out), 0);
  std::istringstream lines(out.str());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto facts = nlohmann::json::parse(line);
  EXPECT_EQ(facts["version"], ISTHMUS_VERSION);
  double last = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    const auto time = nlohmann::json::parse(line)["time"].get<double>();
    EXPECT_GE(time, last);
    last = time;
  }
  EXPECT_FALSE(std::getline(lines, line));
}

}  // namespace
}  // namespace isthmus::daemon
