#include "daemon/launch/named_pipe.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

constexpr uid_t kNobody = 65534;

// In a process of a user to whom the system hides what agents hide; 0 when `work` is true.
int status_of(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const bool may = geteuid() != 0 || setresuid(kNobody, kNobody, kNobody) == 0;
    _exit(may && work() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

std::string text_of_pipe(const FileDescriptor& file) {
  std::string text;
  std::array<char, 64> block{};
  for (ssize_t n = 1; n > 0;) {
    n = read(file.get(), block.data(), block.size());
    if (n > 0) text.append(block.data(), static_cast<std::size_t>(n));
  }
  return text;
}

class NamedPipes : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/isthmus-pipe-XXXXXX";
    folder = mkdtemp(name);
    if (geteuid() == 0) {
      ASSERT_EQ(chown(name, kNobody, kNobody), 0);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

TEST_F(NamedPipes, AreReadWhereTheOwnerHidesItself) {
  EXPECT_EQ(status_of([&] {
              NamedPipe pipe = make_named_pipe(folder + "/p");
              prctl(PR_SET_DUMPABLE, 0);
              if (write(pipe.ends.write.get(), "all", 3) != 3) return false;
              pipe.ends.write = FileDescriptor();
              return status_of([&] { return text_of_pipe(open_by_name(pipe.name)) == "all"; }) == 0;
            }),
            0);
}

TEST_F(NamedPipes, WhatIsWrittenAndEndedBeforeIsThere) {
  NamedPipe pipe = make_named_pipe(folder + "/p");
  pipe.ends.write = FileDescriptor();
  EXPECT_EQ(text_of_pipe(open_by_name(pipe.name)), "");
}

TEST_F(NamedPipes, AnotherFileOfThatNameIsNone) {
  const NamedPipe pipe = make_named_pipe(folder + "/p");
  std::filesystem::rename(folder + "/p", folder + "/old");
  EXPECT_THROW(open_by_name(pipe.name), Failure);
  const NamedPipe other = make_named_pipe(folder + "/p");
  EXPECT_THROW(open_by_name(pipe.name), Failure);
}

}  // namespace
}  // namespace isthmus::daemon
