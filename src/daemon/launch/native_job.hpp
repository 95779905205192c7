// The native launcher and everything below it, from its start until nothing is left.
#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "daemon/launch/child.hpp"

namespace isthmus::daemon {

/// Runs on one io_context, on the thread that made it; at most one at a time per process. That
/// process is the reaper of all its descendants (PR_SET_CHILD_SUBREAPER), so that ranks whose
/// launcher died are still found and ended.
class NativeJob {
 public:
  struct Events {
    std::function<void(int fd, std::string_view bytes)> output;
    /// The launcher has ended, nothing that it started is left and all output has been handed
    /// over. `wait_status` is waitpid's. Called once.
    std::function<void(int wait_status)> ended;
  };

  /// Throws Failure when the launcher cannot be started.
  NativeJob(asio::io_context& context, ChildPlan plan, Events events);
  /// Kills (SIGKILL) and reaps whatever is still there.
  ~NativeJob();
  NativeJob(const NativeJob&) = delete;
  NativeJob& operator=(const NativeJob&) = delete;

  /// Queues bytes for the launcher's standard input; dropped when nobody reads it any more.
  void write_stdin(const std::string& bytes);
  /// Closes it once everything queued is written.
  void close_stdin();
  std::size_t unwritten_stdin() const { return stdin_queue_.size(); }
  /// Called whenever unwritten_stdin() has become smaller.
  std::function<void()> on_stdin_written;

  /// Stops reading the ranks' output while true; they wait when their pipes are full.
  void hold_output(bool held);

  void signal(int number);
  /// Stops the launcher and the ranks; where ranks run elsewhere, asks the launcher to stop them.
  void pause();
  void resume();
  /// SIGTERM to the launcher; two seconds later SIGKILL to all that is left. `ending`: the ranks
  /// are known to be ending by themselves, so the launcher first gets two seconds to notice.
  void kill(bool ending = false);

 private:
  struct Stream {
    explicit Stream(asio::io_context& context) : pipe(context) {}
    asio::posix::stream_descriptor pipe;
    int fd = 0;
    bool reading = false;
    std::array<char, 32768> block{};
  };

  void read(Stream& stream);
  void flush_stdin();
  void watch_children();
  void reap();
  void terminate();
  void sweep();
  void limit_drain();
  void finish_if_done();

  asio::io_context& context_;
  Events events_;
  pid_t pid_;
  Stream out_;
  Stream err_;
  asio::posix::stream_descriptor stdin_;
  FileDescriptor stdin_read_;  // held open until the end: what is written is not lost meanwhile
  asio::signal_set child_ended_;
  asio::steady_timer kill_timer_;
  asio::steady_timer sweep_timer_;
  std::string stdin_queue_;
  bool stdin_writing_ = false;
  bool stdin_closing_ = false;
  bool held_ = false;
  bool killing_ = false;
  bool here_;  // all ranks run on this host
  bool paused_ = false;
  int sweeps_ = 0;
  bool swept_ = false;
  std::optional<int> wait_status_;  // of the launcher, once reaped
};

}  // namespace isthmus::daemon
