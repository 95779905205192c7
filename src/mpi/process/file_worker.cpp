#include "mpi/process/file_worker.hpp"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace isthmus::face {
namespace {

class Worker {
 public:
  void add(JobRef job) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(started_, true)) {
      start_helper([this] { run(); });
    }
    jobs_.push_back(std::move(job));
    come_.notify_one();
  }

 private:
  [[noreturn]] void run() {
    for (;;) {
      JobRef job;
      {
        std::unique_lock lock(mutex_);
        come_.wait(lock, [this] { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job->run();
    }
  }

  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<JobRef> jobs_;
  bool started_ = false;
};

}  // namespace

void Job::run() noexcept {
  try {
    work_();
  } catch (...) {
    failure_ = std::current_exception();
  }
  work_ = nullptr;
  done_.store(true, std::memory_order_release);
}

JobRef do_later(std::function<void()> work) {
  static auto* const worker = new Worker;  // never destroyed: its thread outlives static objects
  auto job = std::make_shared<Job>(std::move(work));
  worker->add(job);
  return job;
}

void start_helper(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread(std::move(body)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace isthmus::face
