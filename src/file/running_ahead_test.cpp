#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <thread>

#include "core/base/mutex.hpp"
#include "file/test_service.hpp"

namespace isthmus::file {
namespace {

std::size_t finished(UnderWay& access) {
  while (!access.done()) std::this_thread::yield();
  return access.finish();
}

std::vector<std::byte> some_bytes(std::size_t size, unsigned seed) {
  std::vector<std::byte> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<std::byte>((i * 7 + seed) % 251);
  return made;
}

TEST(RunningAhead, EveryAccessIsAsIfTheyWereDoneOneByOne) {
  Service service;
  const auto file = open_there(service.caller(), some_file());
  std::mt19937 random(5);
  std::vector<std::byte> expected = some_bytes(3'000'000, 1);
  service.bytes->bytes = expected;
  std::int64_t at = 0;
  for (int k = 0; k < 1500; ++k) {
    std::vector<std::byte> data = some_bytes(random() % (k % 9 == 0 ? 900'000 : 40'000), random());
    if (random() % 40 == 0) at = random() % 3'500'000;
    const auto from = static_cast<std::size_t>(at);
    switch (random() % 40) {
      case 0:
        file->sync();
        break;
      case 1:
        ASSERT_EQ(file->size(), std::ssize(expected));
        break;
      default:
        if (k / 50 % 3 == 0) {
          ASSERT_EQ(finished(*file->begin_write(at, data)), data.size());
          expected.resize(std::max(expected.size(), from + data.size()));
          std::copy(data.begin(), data.end(), expected.begin() + at);
          at += std::ssize(data);
          break;
        }
        const std::size_t there =
            from >= expected.size() ? 0 : std::min(data.size(), expected.size() - from);
        ASSERT_EQ(finished(*file->begin_read(at, data)), there) << k;
        data.resize(there);
        if (there > 0) {
          ASSERT_TRUE(std::equal(data.begin(), data.end(), expected.begin() + at)) << k;
        }
        at += static_cast<std::int64_t>(there);
    }
  }
  file->close();
  EXPECT_EQ(service.bytes->bytes, expected);
}

TEST(RunningAhead, WhatOthersWroteIsSeenAfterASync) {
  Service service;
  const auto file = open_there(service.caller(), some_file());
  service.bytes->bytes = some_bytes(1'000'000, 1);
  std::vector<std::byte> data(1000);
  for (int k = 0; k < 3; ++k) finished(*file->begin_read(1000 * k, data));
  const std::vector<std::byte> others = some_bytes(1'000'000, 2);
  file->sync();  // blocks ahead are forgotten
  {
    const core::Lock lock(service.bytes->mutex);
    service.bytes->bytes = others;
  }
  finished(*file->begin_read(3000, data));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), others.begin() + 3000));
}

TEST(RunningAhead, AFileThatGrowsIsReadOn) {
  Service service;
  const auto file = open_there(service.caller(), some_file());
  const std::vector<std::byte> all = some_bytes(600'000, 3);
  service.bytes->bytes.assign(all.begin(), all.begin() + 5000);
  std::vector<std::byte> data(2000);
  EXPECT_EQ(finished(*file->begin_read(0, data)), 2000);
  EXPECT_EQ(finished(*file->begin_read(2000, data)), 2000);
  {
    const core::Lock lock(service.bytes->mutex);
    service.bytes->bytes = all;
  }
  for (std::int64_t at = 4000; at < 600'000; at += 2000) {
    ASSERT_EQ(finished(*file->begin_read(at, data)), 2000) << at;
    ASSERT_TRUE(std::equal(data.begin(), data.end(), all.begin() + at)) << at;
  }
}

TEST(RunningAhead, AFullDiskIsToldByALaterCall) {
  for (const bool closes : {false, true}) {
    Service service;
    service.room = 100'000;
    const auto file = open_there(service.caller(), some_file());
    const std::vector<std::byte> data = some_bytes(30'000, 4);
    int failed = 0;
    // The service may be late: the one that is not closed writes until it has heard.
    for (int k = 0; closes ? k < 4 : failed == 0; ++k) {
      try {
        finished(*file->begin_write(30'000 * (k % 400), data));
      } catch (const Error& error) {
        EXPECT_EQ(error.number, ENOSPC);
        ++failed;
      }
    }
    if (closes && failed == 0) {
      EXPECT_THROW(file->close(), Error);
    } else {
      EXPECT_GT(failed, 0);
    }
  }
}

TEST(RunningAhead, AccessesAreUnderWayTogetherWithinAWindow) {
  Service service;
  const auto file = open_there(service.caller(), some_file());
  service.bytes->bytes = some_bytes(8'000'000, 5);
  std::vector<std::vector<std::byte>> data(64, std::vector<std::byte>(1'000'000));
  std::vector<std::unique_ptr<UnderWay>> accesses;
  for (std::size_t k = 0; k < data.size(); ++k) {
    accesses.push_back(
        file->begin_read(static_cast<std::int64_t>(k * 99'991 % 7'000'000), data[k]));
  }
  for (const auto& access : accesses) EXPECT_EQ(finished(*access), 1'000'000);
  EXPECT_LE(service.most_waiting, kMostUnderWay / kMostData + 64);
  for (std::size_t k = 0; k < data.size(); ++k) {
    const auto from =
        service.bytes->bytes.begin() + static_cast<std::ptrdiff_t>(k * 99'991 % 7'000'000);
    EXPECT_TRUE(std::equal(data[k].begin(), data[k].end(), from)) << k;
  }
}

TEST(RunningAhead, ManyProcessesShareWhatAServiceKeeps) {
  constexpr std::size_t kProcesses = 40, kEach = 8'000'000;
  EXPECT_EQ(window_among(0), kMostUnderWay);
  EXPECT_EQ(window_among(1), kMostUnderWay);
  EXPECT_LE(window_among(10'000) * 10'000, kMostServed);
  Service service;
  service.bytes->bytes = some_bytes(kEach, 6);
  std::vector<std::byte> all(kEach);  // the service's thread alone writes there
  std::vector<std::unique_ptr<OpenFile>> files;
  std::vector<std::unique_ptr<UnderWay>> accesses;
  for (std::size_t p = 0; p < kProcesses; ++p) {
    files.push_back(open_there(service.caller(window_among(kProcesses)), some_file()));
  }
  for (const auto& file : files) accesses.push_back(file->begin_read(0, all));
  for (const auto& access : accesses) EXPECT_EQ(finished(*access), kEach);
  EXPECT_EQ(all, service.bytes->bytes);
  EXPECT_LE(service.most_waiting, kMostServed / kMostData + kProcesses);
}

}  // namespace
}  // namespace isthmus::file
