#include "mpi/file/files_beside.hpp"

#include <gtest/gtest.h>
#include <limits.h>
#include <unistd.h>

#include <cstdlib>

namespace isthmus::face {
namespace {

TEST(FilesBeside, APathIsAFolderAndAName) {
  EXPECT_EQ(split_path("data"), (std::pair<std::string, std::string>{"", "data"}));
  EXPECT_EQ(split_path("/scratch/a/data"),
            (std::pair<std::string, std::string>{"/scratch/a/", "data"}));
  EXPECT_EQ(split_path("/data"), (std::pair<std::string, std::string>{"/", "data"}));
}

TEST(FilesBeside, ASharedPointerHasANameThatTheSystemTakes) {
  const std::string longest(NAME_MAX, 'x');
  const auto [folder, name] = split_path(shared_pointer_beside("/scratch/" + longest));
  EXPECT_EQ(folder, "/scratch/");
  EXPECT_EQ(name.size(), std::size_t{NAME_MAX});
  EXPECT_EQ(name.front(), '.');
  EXPECT_NE(shared_pointer_beside("data"), shared_pointer_beside("data"));
}

TEST(FilesBeside, ANonceGoesWithTheOneThatLeftIt) {
  char folder[] = "/tmp/isthmus-nonce-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = leave_nonce(std::string(folder) + "/");
  ASSERT_NE(path, "");
  {
    const Nonce mine(path, true);
    {
      const Nonce others(path, false);
      EXPECT_TRUE(others.seen());
      EXPECT_TRUE(others.is_own());
    }
    EXPECT_TRUE(mine.seen());
  }
  EXPECT_FALSE(Nonce(path, false).seen());
  EXPECT_EQ(rmdir(folder), 0);
}

TEST(FilesBeside, WhereNoneCanBeLeftNoneIsSeen) {
  EXPECT_EQ(leave_nonce("/nonexistent/folder/"), "");
  const Nonce none("", true);
  EXPECT_FALSE(none.seen());
  EXPECT_FALSE(none.is_own());
}

}  // namespace
}  // namespace isthmus::face
