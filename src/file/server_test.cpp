#include "file/server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <random>
#include <thread>

#include "file/error.hpp"
#include "file/test_service.hpp"

namespace isthmus::file {
namespace {

TEST(Server, FarReadsAndWritesGoInPieces) {
  Service service;
  const auto file = open_there(service.caller(), some_file());
  core::TypeMapBuilder builder;
  builder.add(core::TypeMap::basic(8, 8), 1, 4);
  file->set_view({10, std::move(builder).build().resized(0, 24)});
  std::vector<std::byte> data(5 * kMostData + 123), back(data.size() + 10);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 % 251);
  file->write(3, data);
  EXPECT_EQ(file->read(3, back), data.size());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), back.begin()));
  EXPECT_EQ(service.bytes->bytes[10 + 4 + 3], data[0]);
  EXPECT_EQ(file->size(), static_cast<std::int64_t>(service.bytes->bytes.size()));
  file->close();
  EXPECT_THROW(file->size(), Error);
}

TEST(Server, ErrorsComeBack) {
  Service service;
  try {
    open_there(service.caller(), {{.path = "absent", .flags = O_RDONLY}, ""});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.number, ENOENT);
  }
}

TEST(Server, FilesAreMadeAndRemovedFromAfar) {
  Service service;
  for (const int flags : {O_RDONLY, O_WRONLY | O_CREAT, O_RDWR | O_CREAT | O_EXCL}) {
    open_there(service.caller(), {{.path = "file", .flags = flags}, ""});
    EXPECT_EQ(service.opened_with, flags);
  }
  remove_there(*service.caller(), "file");
  EXPECT_EQ(service.removed, std::vector<std::string>{"file"});
  EXPECT_THROW(remove_there(*service.caller(), "absent"), Error);
}

TEST(Server, WhoMayHaveOneFileGetsNoOther) {
  const auto bytes = std::make_shared<MemoryBytes>();
  std::vector<Opening> opened;
  std::vector<std::string> removed;
  const auto open = [&](const Opening& opening) {
    opened.push_back(opening);
    return std::make_unique<MemoryStorage>(bytes);
  };
  Server server(open, [&](const std::string& path) { removed.push_back(path); });
  const Paths only{.file = {.path = "ours", .flags = O_RDONLY}, .shared = ""};
  Request request;
  request.op = Op::Open;
  request.a = kReads | kWrites | kCreates;
  request.text = "theirs";
  EXPECT_EQ(decode_reply(*server.handle(1, request, &only))->error, 0);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_EQ(opened[0].path, "ours");
  EXPECT_EQ(opened[0].flags, O_RDONLY);
  request.op = Op::Remove;
  EXPECT_EQ(decode_reply(*server.handle(1, request, &only))->error, EPERM);
  EXPECT_TRUE(removed.empty());
}

// A file that is to go is known to the process that removes it once this one has ended.
TEST(Server, AFileThatIsToGoIsTold) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("isthmus-server-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / "file";
  const auto told_of = [&](bool of_other_run, bool closes) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      tell_tidier_at(ends[1]);
      Server server;
      Request request;
      request.op = Op::Open;
      request.a = kReads | kWrites | kCreates | kGoes;
      request.b = 0600;
      request.text = path;
      const Paths only{.file = {.path = path, .flags = O_RDWR | O_CREAT}, .shared = ""};
      (void)server.handle(1, request, of_other_run ? &only : nullptr);
      request.op = Op::Close;
      if (closes) (void)server.handle(1, request);
      _exit(0);
    }
    close(ends[1]);
    waitpid(child, nullptr, 0);
    std::string told;
    std::array<char, PATH_MAX + 1> packet{};
    for (ssize_t got = 0; (got = recv(ends[0], packet.data(), packet.size(), 0)) > 0;) {
      EXPECT_EQ(std::string(packet.data() + 1, static_cast<std::size_t>(got) - 1), path);
      told += packet[0];
    }
    close(ends[0]);
    return told;
  };
  EXPECT_EQ(told_of(false, false), "+");
  EXPECT_EQ(told_of(false, true), "+-") << "closed: whoever asked removes it";
  EXPECT_EQ(told_of(true, false), "") << "another run removes nothing here";
  std::filesystem::remove_all(folder);
}

TEST(Server, LockedRangesAreAlone) {
  Service service;
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&service, w] {
      const auto file = open_there(service.caller(), some_file());
      std::vector<std::byte> mine(2 * kMostData, static_cast<std::byte>(w)), found(mine.size());
      for (int k = 0; k < 5; ++k) {
        file->lock(0, static_cast<std::int64_t>(mine.size()));
        file->write(0, mine);
        file->unlock();
        file->lock(0, static_cast<std::int64_t>(mine.size()));
        file->read(0, found);
        file->unlock();
        EXPECT_EQ(found, std::vector<std::byte>(found.size(), found[0]));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
}

TEST(Server, TrustsNoRequest) {
  std::mt19937 random(3);
  const auto bytes = std::make_shared<MemoryBytes>();
  Server server([&](const Opening&) { return std::make_unique<MemoryStorage>(bytes); },
                [](const std::string&) {});
  Request open;
  open.op = Op::Open;
  open.a = 3;
  ASSERT_EQ(decode_reply(*server.handle(1, open))->error, 0);
  int answered = 0;
  for (int k = 0; k < 20'000; ++k) {
    Request request;
    request.op = static_cast<Op>(random() % 12);
    if (request.op == Op::Resize || request.op == Op::Preallocate) continue;
    request.file = random() % 8 == 0;
    request.a = static_cast<std::int64_t>(random() % 100) - 2;
    request.b = static_cast<std::int64_t>(random() % 100) - 2;
    std::vector<std::byte> data(random() % 40);
    for (std::byte& b : data) b = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    request.data = data;
    std::vector<std::byte> wire = encode(request);
    if (random() % 4 == 0) wire.resize(random() % wire.size());
    const auto decoded = decode_request(wire);
    if (!decoded) continue;
    answered += server.handle(1, *decoded).has_value() ? 1 : 0;
  }
  EXPECT_GT(answered, 1000);
  Request write;
  write.op = Op::Write;
  write.file = 77;
  EXPECT_EQ(decode_reply(*server.handle(1, write))->error, EPROTO);
}

}  // namespace
}  // namespace isthmus::file
