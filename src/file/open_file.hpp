// A file as one process has it open: in its own file system, or through the file service of a
// process that has it in its own. All functions may block and throw file::Error. Several threads
// may read, write and lock; set_view and close are called by one while no other is at the file.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/protocol.hpp"
#include "file/storage.hpp"
#include "file/view.hpp"

namespace isthmus::file {

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual void set_view(const View& view) = 0;
  /// From byte `position` of the view on. Short at the end of the file.
  virtual std::size_t read(std::int64_t position, std::span<std::byte> to) = 0;
  virtual void write(std::int64_t position, std::span<const std::byte> from) = 0;
  virtual std::int64_t size() = 0;
  virtual void resize(std::int64_t size) = 0;
  virtual void preallocate(std::int64_t size) = 0;
  virtual void sync() = 0;
  /// Waits for the range of the file to be free of others' locks, and locks it. The same thread
  /// unlocks it.
  virtual void lock(std::int64_t low, std::int64_t high) = 0;
  virtual void unlock() = 0;
  virtual std::int64_t add_shared(std::int64_t value) = 0;
  virtual void set_shared(std::int64_t value) = 0;
  virtual void close() = 0;
};

struct Paths {
  Opening file;
  std::string shared;  ///< the shared number's
};
std::unique_ptr<OpenFile> open_here(const Paths& paths);

/// The requests of one process to one file service, and their replies.
class Caller {
 public:
  using Send = std::function<void(std::vector<std::byte> message)>;
  explicit Caller(Send send) : send_(std::move(send)) {}

  /// Any thread. Sends a request, whose number it gives.
  std::uint64_t begin(Request request);
  /// Waits for the reply; throws what it says went wrong.
  Reply finish(std::uint64_t number);
  Reply call(const Request& request) { return finish(begin(request)); }
  /// On the thread that receives. False: no reply to anything.
  bool take(std::span<const std::byte> message);

 private:
  const Send send_;
  std::mutex mutex_;
  std::condition_variable come_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::optional<Reply>> replies_;  // of requests under way
};

/// Opened by the service behind `caller`.
std::unique_ptr<OpenFile> open_there(std::shared_ptr<Caller> caller, const Paths& paths);
/// Removes a file in the file system of the service behind `caller`.
void remove_there(Caller& caller, const std::string& path);

}  // namespace isthmus::file
