// For tests: a file service on a thread of its own, with its file in memory.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "file/error.hpp"
#include "file/memory_storage.hpp"
#include "file/open_file.hpp"
#include "file/server.hpp"

namespace isthmus::file {

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
  std::shared_ptr<Caller> caller(std::size_t window = kMostUnderWay) {
    const std::uint32_t client = ++clients_;
    const auto enter = [this, client](const auto& body) {
      const std::lock_guard lock(mutex_);
      body(sending(client));
    };
    auto made = std::make_shared<Caller>(enter, window);
    const std::lock_guard lock(mutex_);
    callers_[client] = made;
    return made;
  }
  std::shared_ptr<MemoryBytes> bytes = std::make_shared<MemoryBytes>();
  int opened_with = 0;  ///< system's flags
  std::vector<std::string> removed;
  std::size_t most_waiting = 0;                                  ///< requests
  std::int64_t room = std::numeric_limits<std::int64_t>::max();  ///< of the disk, in bytes

 private:
  /// The file, on a disk with limited room.
  class Disk final : public MemoryStorage {
   public:
    explicit Disk(const Service& service) : MemoryStorage(service.bytes), service_(service) {}
    void write(std::int64_t offset, std::span<const std::byte> from) override {
      if (offset + std::ssize(from) > service_.room) fail("cannot write file", ENOSPC);
      MemoryStorage::write(offset, from);
    }

   private:
    const Service& service_;
  };
  struct Message {
    std::uint32_t client;
    std::vector<std::byte> bytes;
  };
  Caller::Send sending(std::uint32_t client) {
    return [this, client](std::vector<std::byte> message) {
      most_waiting = std::max(most_waiting, queue_.size());
      queue_.push_back({client, std::move(message)});
      come_.notify_all();
    };
  }
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
      lock.lock();
      if (reply) {
        EXPECT_TRUE(caller->take(*reply, sending(message.client)));
      }
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
                   return std::make_unique<Disk>(*this);
                 },
                 [this](const std::string& path) {
                   if (path == "absent") fail("cannot remove absent", ENOENT);
                   removed.push_back(path);
                 }};
  std::thread thread_;
};

inline Paths some_file() { return {{.path = "file", .flags = O_RDWR}, "/nowhere/shared"}; }

}  // namespace isthmus::file
