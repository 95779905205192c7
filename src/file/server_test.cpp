#include "file/server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <random>
#include <thread>

#include "file/error.hpp"
#include "file/memory_storage.hpp"
#include "file/open_file.hpp"

namespace isthmus::file {
namespace {

/// A service on a thread of its own, which takes requests from callers.
class Service {
 public:
  Service() : thread_([this] { run(); }) {}
  ~Service() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    come_.notify_all();
    thread_.join();
  }
  std::shared_ptr<Caller> caller() {
    const std::uint32_t client = ++clients_;
    auto made = std::make_shared<Caller>([this, client](std::vector<std::byte> message) {
      const std::lock_guard lock(mutex_);
      queue_.push_back({client, std::move(message)});
      come_.notify_all();
    });
    const std::lock_guard lock(mutex_);
    callers_[client] = made;
    return made;
  }
  std::shared_ptr<MemoryBytes> bytes = std::make_shared<MemoryBytes>();
  int opened_with = 0;  ///< system's flags
  std::vector<std::string> removed;

 private:
  struct Message {
    std::uint32_t client;
    std::vector<std::byte> bytes;
  };
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      come_.wait(lock, [&] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const Message message = std::move(queue_.front());
      queue_.pop_front();
      const auto caller = callers_.at(message.client);
      lock.unlock();
      const auto reply = server_.handle(message.client, *decode_request(message.bytes));
      if (reply) {
        EXPECT_TRUE(caller->take(encode(*reply)));
      }
      lock.lock();
      if (!reply) queue_.push_back(message);
    }
  }

  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Message> queue_;
  std::map<std::uint32_t, std::shared_ptr<Caller>> callers_;
  std::atomic<std::uint32_t> clients_{0};
  bool ended_ = false;
  Server server_{[this](const Opening& opening) -> std::unique_ptr<Storage> {
                   if (opening.path == "absent") fail("cannot open absent", ENOENT);
                   opened_with = opening.flags;
                   return std::make_unique<MemoryStorage>(bytes);
                 },
                 [this](const std::string& path) {
                   if (path == "absent") fail("cannot remove absent", ENOENT);
                   removed.push_back(path);
                 }};
  std::thread thread_;
};

Paths some_file() { return {{.path = "file", .flags = O_RDWR}, "/nowhere/shared"}; }

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
  ASSERT_EQ(server.handle(1, open)->error, 0);
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
  EXPECT_EQ(server.handle(1, write)->error, EPROTO);
}

}  // namespace
}  // namespace isthmus::file
