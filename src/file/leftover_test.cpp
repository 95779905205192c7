#include "file/leftover.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

namespace isthmus::file {
namespace {

namespace fs = std::filesystem;

class Leftovers : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    std::ofstream(path) << "x";
  }
  void TearDown() override { fs::remove_all(folder); }
  /// The status of a child that does `work`, as from wait(2).
  static int end_of_child(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_DFL);
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  const fs::path folder =
      fs::temp_directory_path() / ("isthmus-leftover-" + std::to_string(getpid()));
  const fs::path path = folder / "file";
};

TEST_P(Leftovers, ASignalThatEndsTheProcessRemovesThem) {
  const int status = end_of_child([&] {
    const Leftover one(path);
    raise(GetParam());
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
  EXPECT_FALSE(fs::exists(path));
}

TEST_P(Leftovers, WhatIsNoneAnyMoreStays) {
  const int status = end_of_child([&] {
    { const Leftover one(path); }
    raise(GetParam());
  });
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_TRUE(fs::exists(path));
}

TEST_P(Leftovers, TheProgramsOwnHandlerStays) {
  const int status = end_of_child([&] {
    std::signal(GetParam(), [](int) { _exit(7); });
    const Leftover one(path);
    raise(GetParam());
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_TRUE(fs::exists(path));
}

TEST_P(Leftovers, AForkedChildHasNone) {
  const int status = end_of_child([&] {
    const Leftover one(path);
    const pid_t child = fork();
    if (child == 0) {
      raise(GetParam());
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    _exit(fs::exists(path) ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST_P(Leftovers, AnIgnoredSignalStaysIgnored) {
  const int status = end_of_child([&] {
    std::signal(GetParam(), SIG_IGN);
    const Leftover one(path);
    raise(GetParam());
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(path));
}

INSTANTIATE_TEST_SUITE_P(Signals, Leftovers, testing::Values(SIGTERM, SIGINT, SIGHUP));

}  // namespace
}  // namespace isthmus::file
