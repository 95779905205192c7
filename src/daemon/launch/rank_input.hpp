// The way of standard input to world rank 0.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace isthmus::daemon {

/// Used on the thread that runs its io_context.
class RankInput {
 public:
  RankInput() = default;
  virtual ~RankInput() = default;
  RankInput(const RankInput&) = delete;
  RankInput& operator=(const RankInput&) = delete;

  /// Queues bytes; dropped when nobody reads them any more.
  virtual void write(const std::string& bytes) = 0;
  /// The end of input, once everything queued is written.
  virtual void close() = 0;
  virtual std::size_t unwritten() const = 0;

  /// Called whenever unwritten() has become smaller.
  std::function<void()> on_written;
};

}  // namespace isthmus::daemon
