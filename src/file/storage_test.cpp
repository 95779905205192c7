#include "file/storage.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "file/error.hpp"

namespace isthmus::file {
namespace {

class StorageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "isthmus-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(StorageTest, BytesComeBack) {
  const auto file = open_file({.path = path("f"), .flags = O_RDWR | O_CREAT});
  const std::vector<std::byte> data(100, std::byte{7});
  file->write(50, data);
  EXPECT_EQ(file->size(), 150);
  std::vector<std::byte> back(200);
  EXPECT_EQ(file->read(50, back), 100U);
  file->resize(60);
  EXPECT_EQ(file->read(50, back), 10U);
  file->preallocate(1000);
  EXPECT_EQ(file->size(), 1000);
  file->sync();
}

TEST_F(StorageTest, ErrorsAreTheSystems) {
  try {
    open_file({.path = path("none"), .flags = O_RDONLY});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.number, ENOENT);
    EXPECT_NE(std::string(error.what()).find("none"), std::string::npos);
  }
}

TEST_F(StorageTest, LocksExcludeOthersOfTheSameProcess) {
  const auto one = open_file({.path = path("f"), .flags = O_RDWR | O_CREAT});
  const auto other = open_file({.path = path("f"), .flags = O_RDWR});
  EXPECT_TRUE(one->try_lock(0, 10));
  EXPECT_FALSE(other->try_lock(5, 6));
  EXPECT_TRUE(other->try_lock(10, 20));
  one->unlock();
  other->unlock();
  EXPECT_TRUE(other->try_lock(5, 6));
}

TEST_F(StorageTest, ASharedNumberIsAddedToByOneAtATime) {
  const SharedNumber number(path("n"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      const SharedNumber same(path("n"));
      for (int k = 0; k < 100; ++k) same.add(3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(number.add(0), 1200);
  number.set(5);
  EXPECT_EQ(number.add(1), 5);
  number.remove();
  EXPECT_EQ(number.add(1), 0);
}

}  // namespace
}  // namespace isthmus::file
