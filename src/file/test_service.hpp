// For tests: a file service on a thread of its own, with its file in memory.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/mutex.hpp"
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
      const core::Lock lock(mutex_);
      ended_ = true;
    }
    come_.notify_all();
    thread_.join();
  }
  std::shared_ptr<Caller> caller(std::size_t window = kMostUnderWay) {
    const std::uint32_t client = ++clients_;
    const auto enter = [this, client](const auto& body) {
      const core::Lock lock(mutex_);
      body(sending(client));
    };
    auto made = std::make_shared<Caller>(enter, window);
    const core::Lock lock(mutex_);
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
    return [this, client](std::vector<std::byte> message) REQUIRES(mutex_) {
      most_waiting = std::max(most_waiting, queue_.size());
      queue_.push_back({client, std::move(message)});
      come_.notify_all();
    };
  }
  void run() {
    core::Lock lock(mutex_);
    for (;;) {
      come_.wait(lock, [this]() REQUIRES(mutex_) { return ended_ || !queue_.empty(); });
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

  core::Mutex mutex_;
  core::Condition come_;
  std::deque<Message> queue_ GUARDED_BY(mutex_);
  std::map<std::uint32_t, std::shared_ptr<Caller>> callers_ GUARDED_BY(mutex_);
  std::atomic<std::uint32_t> clients_{0};
  bool ended_ GUARDED_BY(mutex_) = false;
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
