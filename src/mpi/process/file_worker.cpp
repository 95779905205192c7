#include "mpi/process/file_worker.hpp"

#include <deque>
#include <utility>

#include "core/base/mutex.hpp"
#include "net/host/start_thread.hpp"

namespace isthmus::face {
namespace {

class Worker {
 public:
  void add(JobRef job) {
    const core::Lock lock(mutex_);
    if (!started_) {
      start_helper([this] { run(); });
      started_ = true;
    }
    jobs_.push_back(std::move(job));
    come_.notify_one();
  }

 private:
  [[noreturn]] void run() {
    for (;;) {
      JobRef job;
      {
        core::Lock lock(mutex_);
        come_.wait(lock, [this]() REQUIRES(mutex_) { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job->run();
    }
  }

  core::Mutex mutex_;
  core::Condition come_;
  std::deque<JobRef> jobs_ GUARDED_BY(mutex_);
  bool started_ GUARDED_BY(mutex_) = false;
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
  try {
    worker->add(job);
  } catch (const net::NoThread&) {
    job->run();  // in this thread: slower, and as right
  }
  return job;
}

void start_helper(std::function<void()> body) {
  net::start_thread("isthmus-helper", std::move(body)).detach();
}

}  // namespace isthmus::face
