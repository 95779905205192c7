// One end of a stream of bytes over UCX: what it has sent and may send, what has come. The other
// end is known by a key that only the two know, which every message carries: UCX lets anybody send
// who reaches this process.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/ucx/inbox.hpp"
#include "net/ucx/said.hpp"

namespace isthmus::net::ucx {

class Worker;
struct Chunk;

/// Comes before the bytes of each message. `read` counts the bytes of the other direction that have
/// been read.
struct Head {
  Key key{};
  std::uint64_t at = 0;
  std::uint64_t read = 0;
};

/// A UCX endpoint. Its own object, since it ends after the pipe that had it.
struct Wire {
  ucp_ep_h ep = nullptr;
  class Pipe* owner = nullptr;
};

/// All on the thread whose turn it is.
class Pipe {
 public:
  /// Throws std::runtime_error.
  explicit Pipe(Worker& worker);
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  Card card() const;
  /// Throws std::runtime_error where UCX knows no way there.
  void connect(const Card& peer);
  /// Something has come from the other end.
  bool heard() const { return heard_; }
  /// Called from Worker::look when something has come, can be sent, or the pipe has broken.
  std::function<void()> news;

  std::size_t read(std::span<const iovec> into);
  /// Writes as much as the other end has room for.
  std::size_t write(std::span<const iovec> from);
  bool filled() const { return inbox_.filled(); }
  bool room() const { return sent_ < limit_; }
  /// Why nothing more moves; empty: it does.
  const std::string& broken() const { return broken_; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t arrived() const { return inbox_.arrived(); }

  // ---- for Worker -------------------------------------------------------------------------------

  const Key& key() const { return mine_; }
  void arrived(const Head& head, std::span<const std::byte> bytes);
  void done(Chunk& chunk, ucs_status_t status);
  void fail(const std::string& why);
  bool told = false;  ///< in the worker's list of those with news

 private:
  void send(std::unique_ptr<Chunk> chunk);
  void tell_read();

  Worker& worker_;
  Key mine_{}, theirs_{};
  Inbox inbox_;
  Wire* wire_ = nullptr;
  std::uint64_t sent_ = 0, limit_ = 0;  // bytes; `limit_` is where the other end's window ends
  std::uint64_t window_ = 0;            // of the other end
  std::uint64_t told_read_ = 0;
  bool telling_ = false;  // a message that only tells what has been read is under way
  bool heard_ = false;
  std::vector<Chunk*> under_way_;
  std::string broken_;
};

}  // namespace isthmus::net::ucx
