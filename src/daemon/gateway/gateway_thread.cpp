#include "daemon/gateway/gateway_thread.hpp"

#include <asio/executor_work_guard.hpp>
#include <deque>
#include <exception>
#include <thread>

#include "core/base/mutex.hpp"
#include "net/host/start_thread.hpp"
#include "net/waiting/looking_loop.hpp"

namespace isthmus::daemon {
namespace {

/// News that the owner has not read yet. The owner's io_context may look into it after the thread's
/// end.
class Mail {
 public:
  void put(std::function<void()> news) {
    const core::Lock lock(mutex_);
    news_.push_back(std::move(news));
  }
  /// The oldest; empty if there is none.
  std::function<void()> take() {
    const core::Lock lock(mutex_);
    if (news_.empty()) return {};
    std::function<void()> news = std::move(news_.front());
    news_.pop_front();
    return news;
  }

 private:
  core::Mutex mutex_;
  std::deque<std::function<void()>> news_ GUARDED_BY(mutex_);
};

}  // namespace

struct GatewayThread::Own {
  void run(asio::io_context& owner) {
    for (bool over = false; !over;) {
      try {
        net::run_looking(io);
        over = true;
      } catch (...) {  // it goes on, since the owner may just be waiting for something
        asio::post(owner, [error = std::current_exception()] { std::rethrow_exception(error); });
      }
    }
  }

  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> busy{io.get_executor()};
  std::shared_ptr<Mail> mail = std::make_shared<Mail>();
  std::thread thread;
};

GatewayThread::GatewayThread(asio::io_context& owner) : owner_(owner) {}

GatewayThread::GatewayThread(asio::io_context& owner, const std::string& name)
    : owner_(owner), own_(std::make_unique<Own>()) {
  own_->thread = net::start_thread(name, [own = own_.get(), &owner] { own->run(owner); });
}

GatewayThread::~GatewayThread() {
  if (!own_) return;
  asio::post(own_->io, [this] { own_->io.stop(); });
  own_->thread.join();
}

asio::io_context& GatewayThread::io() { return own_ ? own_->io : owner_; }

void GatewayThread::tell(std::function<void()> news) {
  if (!own_) return news();
  own_->mail->put(std::move(news));
  asio::post(owner_, [weak = std::weak_ptr(own_->mail)] {
    const auto mail = weak.lock();
    if (const auto oldest = mail ? mail->take() : nullptr) oldest();  // unless a call was quicker
  });
}

void GatewayThread::hear() {
  while (const auto oldest = own_->mail->take()) oldest();
}

}  // namespace isthmus::daemon
