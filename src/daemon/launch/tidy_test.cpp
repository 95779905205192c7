#include "daemon/launch/tidy.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/tidying.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

class Tidy : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  }
  void TearDown() override {
    close(ends[1]);
    fs::remove_all(folder);
  }
  std::string file(const std::string& name) const {
    const std::string path = folder / name;
    std::ofstream(path) << "x";
    return path;
  }
  void say(char letter, const std::string& path) const {
    const std::string packet = letter + path;
    ASSERT_EQ(send(ends[0], packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
  }
  void end() const {
    close(ends[0]);
    tidy_after(ends[1]);
  }
  std::array<int, 2> ends{};
  const fs::path folder = fs::temp_directory_path() / ("isthmus-tidy-" + std::to_string(getpid()));
};

TEST_F(Tidy, FilesGoWithTheRank) {
  const std::string odd = file("a\nb \xff"), longest = file(std::string(NAME_MAX, 'x'));
  say(core::kTidyRemove, odd);
  say(core::kTidyRemove, longest);
  end();
  EXPECT_FALSE(fs::exists(odd));
  EXPECT_FALSE(fs::exists(longest));
}

TEST_F(Tidy, FilesThatAreKeptStay) {
  const std::string path = file("kept");
  say(core::kTidyRemove, path);
  say(core::kTidyKeep, path);
  end();
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(Tidy, AFileThatIsOpenTwiceGoesOnce) {
  const std::string path = file("twice");
  for (int times = 0; times < 2; ++times) say(core::kTidyRemove, path);
  say(core::kTidyKeep, path);
  end();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Tidy, AnythingElseIsIgnored) {
  const std::string path = file("other");
  say(core::kTidyKeep, path);
  say('?', path);
  say(core::kTidyRemove, folder / "missing");
  end();
  EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace isthmus::daemon
