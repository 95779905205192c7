#include "daemon/agent/rank_job.hpp"

#include <fmt/ranges.h>

#include <utility>

#include "daemon/host/failure.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {
namespace {

// Standard input that the ranks have not read yet; beyond it the launcher waits.
constexpr std::size_t kMaxUnreadStdin = std::size_t{4} << 20;

}  // namespace

RankJob::RankJob(asio::io_context& context, ControlChannel& channel, std::function<void(int)> ended)
    : context_(context), channel_(channel), ended_(std::move(ended)) {}

void RankJob::start(ChildPlan plan) {
  NativeJob::Events events;
  events.output = [this](int fd, std::string_view bytes) {
    if (output_) return output_(fd, bytes);
    channel_.send({{"op", "output"}, {"fd", fd}}, bytes);
  };
  events.ended = [this](int wait_status) {
    running_ = false;
    channel_.hold(false);
    ended_(wait_status);
  };
  log::info("starts {}", fmt::join(plan.argv, " "));
  job_ = std::make_unique<NativeJob>(context_, std::move(plan), std::move(events));
  running_ = true;
  if (RankInput* input = job_->input()) {
    input->on_written = [this, input] {
      if (input->unwritten() < kMaxUnreadStdin / 2) channel_.hold(false);
    };
  }
}

void RankJob::take_input(const std::string& bytes) {
  if (!job_) throw Failure("the control message 'stdin' came before 'spawn'");
  if (!running_ || !job_->input()) return;
  job_->input()->write(bytes);
  channel_.hold(job_->input()->unwritten() > kMaxUnreadStdin);
}

void RankJob::end_input() {
  if (!job_) throw Failure("the control message 'stdin-eof' came before 'spawn'");
  if (job_->input()) job_->input()->close();
}

void RankJob::go_on_alone(Output output) {
  output_ = std::move(output);
  if (running_ && job_->input()) job_->input()->close();
  resume();  // the launcher may have stopped them, and itself
}

void RankJob::hold_output(bool held) {
  if (job_) job_->hold_output(held);
}

std::optional<FailedChild> RankJob::failed_child() const {
  return running_ ? job_->failed_child() : std::nullopt;
}

void RankJob::signal(int number) {
  if (running_) job_->signal(number);
}

void RankJob::pause() {
  if (running_) job_->pause();
}

void RankJob::resume() {
  if (running_) job_->resume();
}

void RankJob::kill(std::chrono::milliseconds grace) {
  if (running_) job_->kill(grace);
}

}  // namespace isthmus::daemon
