#include "daemon/agent/staging.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

class Staging : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  static std::string content(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  const fs::path folder =
      fs::temp_directory_path() / ("isthmus-staging-" + std::to_string(getpid()));
};

TEST_F(Staging, AWholeFileHasItsNameAndMode) {
  StagedFile file(folder / "new" / "app", {"app", 0755, 3, kOfAbc});
  file.write("a");
  file.write("bc");
  EXPECT_FALSE(fs::exists(folder / "new" / "app"));
  file.finish();
  EXPECT_EQ(content(folder / "new" / "app"), "abc");
  EXPECT_EQ(fs::status(folder / "new" / "app").permissions(), fs::perms{0755});
  EXPECT_EQ(sha256_of_file(folder / "new" / "app"), kOfAbc);
}

TEST_F(Staging, WhatIsNotAsAnnouncedChangesNothing) {
  std::ofstream(folder / "input") << "before";
  {
    StagedFile file(folder / "input", {"input", 0644, 3, kOfAbc});
    file.write("abd");
    EXPECT_THROW(file.finish(), Failure);
  }
  {
    StagedFile file(folder / "input", {"input", 0644, 3, kOfAbc});
    file.write("ab");
    EXPECT_THROW(file.finish(), Failure);
  }
  EXPECT_EQ(content(folder / "input"), "before");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Staging, WhereNothingCanBeWritten) {
  std::ofstream(folder / "file") << "x";
  EXPECT_THROW(StagedFile(folder / "file" / "app", {"app", 0755, 3, kOfAbc}), Failure);
}

TEST_F(Staging, WhatIsUnderWayIsReadByItsOwnerAlone) {
  StagedFile file(folder / "app", {"app", 0755, 3, kOfAbc});
  file.write("ab");
  ASSERT_EQ(files(), 1U);
  EXPECT_EQ(fs::begin(fs::directory_iterator(folder))->status().permissions(), fs::perms{0600});
}

// Its name was PATH.isthmus-PID, which others could guess.
TEST_F(Staging, NothingIsWrittenThroughWhatOthersHaveLeft) {
  std::ofstream(folder / "victim") << "before";
  const std::string guessed = "app.isthmus-" + std::to_string(getpid());
  fs::create_symlink(folder / "victim", folder / guessed);
  StagedFile file(folder / "app", {"app", 0755, 3, kOfAbc});
  file.write("abc");
  file.finish();
  EXPECT_EQ(content(folder / "victim"), "before");
  EXPECT_FALSE(fs::is_symlink(folder / "app"));
}

TEST_F(Staging, NoSum) { EXPECT_EQ(sha256_of_file(folder / "none"), ""); }

TEST(StagedPlace, IsBelowTheWorkingDirectoryUnlessAbsolute) {
  EXPECT_EQ(staged_place("in/put", "/work", "/home/me"), "/work/in/put");
  EXPECT_EQ(staged_place("./app", "~/run", "/home/me"), "/home/me/run/app");
  EXPECT_EQ(staged_place("/opt/app", "/work", "/home/me"), "/opt/app");
  EXPECT_EQ(staged_place("~/app", "/work", "/home/me"), "/home/me/app");
  EXPECT_EQ(staged_place("app", "", "/home/me"), "./app");  // of this process
  EXPECT_THROW(staged_place("../app", "/work", "/home/me"), Failure);
  EXPECT_THROW(staged_place("a/../../app", "/work", "/home/me"), Failure);
  EXPECT_THROW(staged_place("", "/work", "/home/me"), Failure);
}

}  // namespace
}  // namespace isthmus::daemon
