#include "mpi/request/progress_helper.hpp"

#include <pthread.h>
#include <signal.h>

#include <memory>
#include <thread>

#include "core/base/mutex.hpp"
#include "mpi/request/outstanding.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face::progress_helper {
namespace {

class Helper {
 public:
  explicit Helper(bool always) : always_(always), thread_([this] { run(); }) {}
  ~Helper() {
    stopping_.store(true);
    wake();
    thread_.join();
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  void wake() {
    // Callers change the condition of the helper first, then call this; the helper checks it under
    // the mutex.
    { const core::Lock lock(mutex_); }
    changed_.notify_one();
  }
  void parked() {
    parked_.fetch_add(1);
    if (!always_) wake();
  }
  void unparked() { parked_.fetch_sub(1); }
  bool always() const { return always_; }

 private:
  bool wanted() const { return !idle() && (always_ || parked_.load() > 0); }

  void run() {
    // The program's signals are for its own threads.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    core::Lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_.load() || wanted(); });
      if (stopping_.load()) return;
      lock.unlock();
      {
        Backoff backoff;
        while (wanted() && !stopping_.load()) backoff.pause();
      }
      lock.lock();
    }
  }

  const bool always_;
  std::atomic<int> parked_{0};
  core::Mutex mutex_;
  core::Condition changed_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

std::unique_ptr<Helper> helper;

}  // namespace

void start(bool always) { helper = std::make_unique<Helper>(always); }
void stop() { helper.reset(); }
void needed() {
  if (helper && helper->always()) helper->wake();
}
void parked() {
  if (helper) helper->parked();
}
void unparked() {
  if (helper) helper->unparked();
}

}  // namespace isthmus::face::progress_helper
