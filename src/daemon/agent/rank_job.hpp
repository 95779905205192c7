// The native job of an agent's ranks as the launcher's messages see it.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/control/control_channel.hpp"
#include "daemon/launch/native_job.hpp"

namespace isthmus::daemon {

/// At most one job. Its output goes to the channel as it comes, or where `go_on_alone` says. The
/// channel is held while ranks do not read their standard input. Calls that have no effect before
/// the start or after the end say so. Other calls then throw Failure.
class RankJob {
 public:
  /// `ended` is given waitpid's status, once, when all output has been sent.
  RankJob(asio::io_context& context, ControlChannel& channel, std::function<void(int)> ended);

  /// Throws Failure when the launcher cannot be started.
  void start(ChildPlan plan);
  bool started() const { return job_ != nullptr; }
  bool running() const { return running_; }
  /// Of the native launcher.
  std::optional<FailedChild> failed_child() const;

  /// Bytes that come after the end are dropped: they were sent before the launcher could know.
  void take_input(const std::string& bytes);
  void end_input();
  /// Stops reading output while true. No effect before the start.
  void hold_output(bool held);

  /// The launcher is lost: output goes there from now on, and no more input comes. Ranks that it
  /// has stopped continue.
  using Output = std::function<void(int fd, std::string_view bytes)>;
  void go_on_alone(Output output);

  /// These have no effect while nothing runs.
  void signal(int number);
  void pause();
  void resume();
  void kill(std::chrono::milliseconds grace);

 private:
  asio::io_context& context_;
  ControlChannel& channel_;
  std::function<void(int)> ended_;
  Output output_;  // null: to the channel
  std::unique_ptr<NativeJob> job_;
  bool running_ = false;
};

}  // namespace isthmus::daemon
