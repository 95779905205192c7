// The native launcher and everything below it, from its start until nothing is left.
#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/launch/child.hpp"
#include "daemon/launch/process_tree.hpp"
#include "daemon/launch/rank_input.hpp"

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

  /// To world rank 0's standard input; null when it has none.
  RankInput* input() { return input_.get(); }

  /// Stops reading the ranks' output while true; they wait when their pipes are full.
  void hold_output(bool held);

  /// Of the launcher.
  std::optional<FailedChild> failed_child() const;

  void signal(int number);
  /// Stops the launcher and the ranks; where ranks run elsewhere, asks the launcher to stop them.
  void pause();
  void resume();
  /// SIGTERM to the launcher after `grace`; two seconds later SIGKILL to all that is left. A grace
  /// is for ranks that are known to be ending by themselves, so that the launcher notices.
  void kill(std::chrono::milliseconds grace = {});

 private:
  struct Stream {
    explicit Stream(asio::io_context& context) : pipe(context) {}
    asio::posix::stream_descriptor pipe;
    int fd = 0;
    bool reading = false;
    std::array<char, 32768> block{};
  };

  std::string open_input(const ChildPlan& plan);
  void read(Stream& stream);
  void watch_children();
  void reap();
  void terminate();
  void insist();
  void sweep();
  void end_sweeps();
  void limit_drain();
  void finish_if_done();

  asio::io_context& context_;
  Events events_;
  pid_t pid_;
  Stream out_;
  Stream err_;
  std::unique_ptr<RankInput> input_;
  FileDescriptor stdin_read_;  // held open until the end: what is written is not lost meanwhile
  asio::signal_set child_ended_;
  asio::steady_timer kill_timer_;
  asio::steady_timer sweep_timer_;
  bool held_ = false;
  bool killing_ = false;
  bool here_;  // all ranks run on this host
  bool paused_ = false;
  int sweeps_ = 0;
  bool swept_ = false;
  std::optional<int> wait_status_;  // of the launcher, once reaped
};

}  // namespace isthmus::daemon
