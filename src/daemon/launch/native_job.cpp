#include "daemon/launch/native_job.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <csignal>
#include <utility>

#include "daemon/host/failure.hpp"
#include "daemon/launch/environment.hpp"
#include "daemon/launch/input_door.hpp"
#include "daemon/launch/input_pipe.hpp"
#include "daemon/launch/named_pipe.hpp"
#include "daemon/launch/tidy.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::chrono::seconds kGrace{2};           // between SIGTERM and SIGKILL
constexpr std::chrono::seconds kLaunchersShare{1};  // of it, in which the launcher ends its ranks
constexpr std::chrono::milliseconds kSweepInterval{50};
constexpr int kSweepsBeforeKill = 2000 / 50;      // what the launcher left gets kGrace, too
constexpr int kSweepsBeforeGivingUp = 5000 / 50;  // processes that even SIGKILL cannot end

// SIGTERM to those of our descendants that have `variable`. Processes with another environment tidy
// up after a rank and end by themselves, such as `podman container cleanup`. Without that, podman
// takes the container for running.
void ask_to_end(const char* variable) {
  signal_descendants(getpid(), SIGTERM, [variable](pid_t pid) {
    const auto environment = Environment::of_process(pid);
    return environment && environment->get(variable);
  });
}

// It ends by itself, after its rank.
bool is_tidy(pid_t pid) { return name_of(pid) == kTidyName; }

}  // namespace

NativeJob::NativeJob(asio::io_context& context, ChildPlan plan, Events events)
    : context_(context),
      events_(std::move(events)),
      out_(context),
      err_(context),
      child_ended_(context),
      kill_timer_(context),
      sweep_timer_(context),
      here_(plan.here) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  plan.death_signal = SIGTERM;  // a launcher ends its ranks on SIGTERM; on SIGKILL it could not
  child_ended_.add(SIGCHLD);
  if (!plan.stdin_variable.empty()) plan.environment.set(plan.stdin_variable, open_input(plan));
  Child child = start_child(plan);
  if (child.stdin_pipe) {
    input_ = std::make_unique<InputPipe>(context, std::move(child.stdin_pipe));
  }
  pid_ = child.pid;
  out_.fd = 1;
  err_.fd = 2;
  out_.pipe.assign(child.stdout_pipe.release());
  err_.pipe.assign(child.stderr_pipe.release());
  watch_children();
  read(out_);
  read(err_);
  asio::post(context_, [this] { reap(); });  // it may have ended before the signal was watched
}

NativeJob::~NativeJob() {
  for (int round = 0; round < 100; ++round) {
    if (signal_descendants(getpid(), SIGKILL) == 0) break;
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    usleep(10'000);
  }
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// The way past the launcher; what a rank finds it by.
std::string NativeJob::open_input(const ChildPlan& plan) {
  if (!plan.here) {
    auto door = std::make_unique<InputDoor>(context_);
    const std::string address = door->address().text();
    input_ = std::move(door);
    return address;
  }
  NamedPipe pipe = make_named_pipe(plan.stdin_pipe);
  stdin_read_ = std::move(pipe.ends.read);
  input_ = std::make_unique<InputPipe>(context_, std::move(pipe.ends.write));
  return pipe.name;
}

void NativeJob::read(Stream& stream) {
  if (held_ || stream.reading || !stream.pipe.is_open()) return;
  stream.reading = true;
  stream.pipe.async_read_some(asio::buffer(stream.block),
                              [this, &stream](std::error_code error, std::size_t got) {
                                if (error == asio::error::operation_aborted) return;
                                stream.reading = false;
                                if (got > 0) events_.output(stream.fd, {stream.block.data(), got});
                                if (error) {
                                  stream.pipe.close(error);
                                  finish_if_done();
                                } else {
                                  read(stream);
                                }
                              });
}

void NativeJob::hold_output(bool held) {
  held_ = held;
  if (!held_ && swept_ && events_.ended) limit_drain();
  read(out_);
  read(err_);
}

std::optional<FailedChild> NativeJob::failed_child() const {
  return wait_status_ ? std::nullopt : daemon::failed_child(pid_);
}

void NativeJob::signal(int number) {
  if (!wait_status_) ::kill(pid_, number);
}

void NativeJob::pause() {
  paused_ = true;
  if (here_) {
    signal_descendants(getpid(), SIGSTOP);
  } else {
    signal(SIGTSTP);
  }
}

void NativeJob::resume() {
  if (!std::exchange(paused_, false)) return;
  if (here_) {
    signal_descendants(getpid(), SIGCONT);
  } else {
    signal(SIGCONT);
  }
}

void NativeJob::kill(std::chrono::milliseconds grace) {
  if (std::exchange(killing_, true)) return;
  resume();  // what is stopped cannot end in good order
  hold_output(false);
  if (grace.count() == 0) return terminate();
  kill_timer_.expires_after(grace);
  kill_timer_.async_wait([this](std::error_code error) {
    if (!error) terminate();
  });
}

void NativeJob::terminate() {
  signal(SIGTERM);
  kill_timer_.expires_after(kLaunchersShare);
  kill_timer_.async_wait([this](std::error_code error) {
    if (!error) insist();
  });
}

// A launcher may have killed what stands between it and a rank, as `podman run`, and not the rank.
void NativeJob::insist() {
  ask_to_end("ISTHMUS_RANK");
  kill_timer_.expires_after(kGrace - kLaunchersShare);
  kill_timer_.async_wait([this](std::error_code error) {
    if (!error) signal_descendants(getpid(), SIGKILL, [](pid_t pid) { return !is_tidy(pid); });
  });
}

void NativeJob::watch_children() {
  child_ended_.async_wait([this](std::error_code error, int) {
    if (error) return;
    watch_children();
    reap();
  });
}

void NativeJob::reap() {
  int status = 0;
  bool orphans = false;  // some that came to us have ended
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != pid_) {
      orphans = true;
      continue;
    }
    wait_status_ = status;
    sweep();
  }
  if (orphans && wait_status_ && !swept_ && descendants(getpid()).empty()) end_sweeps();
}

// The launcher is gone: whatever it left behind goes as well, politely first.
void NativeJob::sweep() {
  kill_timer_.cancel();
  if (sweeps_ == 0) ask_to_end("ISTHMUS_JOB");
  const std::size_t left = sweeps_ < kSweepsBeforeKill ? descendants(getpid()).size()
                                                       : signal_descendants(getpid(), SIGKILL);
  if (left == 0 || ++sweeps_ > kSweepsBeforeGivingUp) return end_sweeps();
  sweep_timer_.expires_after(kSweepInterval);
  sweep_timer_.async_wait([this](std::error_code error) {
    if (!error) sweep();
  });
}

void NativeJob::end_sweeps() {
  swept_ = true;
  limit_drain();
  finish_if_done();
}

// A process outside our tree might hold a pipe open forever: only what is in the pipes by now
// is waited for.
void NativeJob::limit_drain() {
  sweep_timer_.expires_after(kGrace);
  sweep_timer_.async_wait([this](std::error_code error) {
    if (error || held_) return;
    out_.pipe.close(error);
    err_.pipe.close(error);
    finish_if_done();
  });
}

void NativeJob::finish_if_done() {
  if (!swept_ || out_.pipe.is_open() || err_.pipe.is_open() || !events_.ended) return;
  sweep_timer_.cancel();
  kill_timer_.cancel();
  child_ended_.cancel();
  const auto ended = std::exchange(events_.ended, nullptr);
  ended(*wait_status_);
}

}  // namespace isthmus::daemon
