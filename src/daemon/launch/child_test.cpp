#include "daemon/launch/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "daemon/host/failure.hpp"
#include "daemon/host/runtime_dir.hpp"
#include "daemon/launch/process_tree.hpp"

namespace isthmus::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChildPlan shell(const std::string& script) {
  ChildPlan plan;
  plan.argv = {"/bin/sh", "-c", script};
  plan.environment = Environment::inherited();
  return plan;
}

// Whether the process is gone, or soon will be: it has been killed and waits to be reaped.
bool ended(pid_t pid) {
  for (int round = 0; round < 1000; ++round) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(file, text) || text.find(") Z ") != std::string::npos) return true;
    usleep(10'000);
  }
  return false;
}

TEST(Capture, OutputAndStatus) {
  const Captured said = capture(shell("echo out; echo err >&2; cat; exit 3"), seconds(60));
  EXPECT_EQ(said.out, "out\n");
  EXPECT_EQ(said.err, "err\n");
  EXPECT_EQ(said.status, 3);
  EXPECT_FALSE(said.timed_out);
  EXPECT_EQ(capture(shell("kill -9 $$"), seconds(60)).status, 137);
}

TEST(Capture, EndsWhatTakesTooLong) {
  Captured said;
  // A machine may be too slow for the shell to come so far.
  for (milliseconds limit(500); said.out.empty() && limit < seconds(60); limit *= 4) {
    said = capture(shell("sleep 600 & echo $!; wait"), limit);
    EXPECT_TRUE(said.timed_out);
  }
  const auto left = static_cast<pid_t>(std::stol(said.out));
  EXPECT_TRUE(ended(left));
}

TEST(Capture, EndsWhenTheAskerIsGone) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  FileDescriptor read_end(pipe_ends[0]);
  close(pipe_ends[1]);
  EXPECT_TRUE(capture(shell("sleep 600"), seconds(500), read_end.get()).timed_out);
}

TEST(Capture, BoundsWhatItKeeps) {
  const Captured said = capture(shell("yes"), seconds(60), -1, 10000);
  EXPECT_LT(said.out.size(), 20000U);
  EXPECT_NE(said.status, 0);
}

TEST(Child, WhatCannotStartIsAFailure) {
  ChildPlan plan = shell("true");
  plan.argv.front() = "/no/such/program";
  EXPECT_THROW(start_child(plan), Failure);
  plan = shell("true");
  plan.directory = "/no/such/folder";
  EXPECT_THROW(start_child(plan), Failure);
  plan = shell("true");
  plan.environment.set("BIG", std::string(200'000, 'x'));
  EXPECT_THROW(start_child(plan), Failure);
}

TEST(Child, InheritsNoDescriptors) {
  const FileDescriptor open_without_cloexec(open("/dev/null", O_RDONLY));
  const Captured said = capture(shell("exec ls /proc/self/fd"), seconds(60));
  EXPECT_EQ(said.out, "0\n1\n2\n3\n") << "3 is the folder that ls reads";
}

TEST(ProcessTree, FindsAndSignalsAllGenerations) {
  Child child = start_child(shell("sh -c 'sleep 600 & wait' & wait"));
  while (descendants(child.pid).size() < 2) usleep(1000);
  EXPECT_EQ(descendants(getpid()).size(), 3U);
  EXPECT_EQ(signal_descendants(child.pid, SIGKILL), 2U);
  int status = 0;
  EXPECT_EQ(waitpid(child.pid, &status, 0), child.pid);
}

TEST(RuntimeDir, IsPrivateAndGoesAway) {
  std::string path;
  {
    const RuntimeDir folder("a job/with odd..characters, and a very long name indeed");
    path = folder.path();
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0700U);
    EXPECT_LT(path.size(), 100U);
    EXPECT_EQ(mkdir((path + "/below").c_str(), 0700), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RuntimeDir, KnowsTheOthersOfItsJob) {
  const std::string job = "job" + std::to_string(getpid());
  const RuntimeDir one(job);
  const RuntimeDir stranger(job + "x");
  EXPECT_FALSE(one.has_siblings());
  const RuntimeDir two(job);
  EXPECT_TRUE(one.has_siblings());
  EXPECT_TRUE(two.has_siblings());
}

}  // namespace
}  // namespace isthmus::daemon
