// The thread of a gateway: its own with an io_context, or its owner's. Requests and events cross
// between the two here, so gateways work without locks.
#pragma once

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace isthmus::daemon {

/// For the owner's thread, but for `tell` and what `told` gives. The owner may wait for the other
/// thread, which never waits for the owner.
class GatewayThread {
 public:
  /// No thread: all happens at once, on the owner's.
  explicit GatewayThread(asio::io_context& owner);
  /// A thread of its own, which the system shows by this name. An exception that leaves it is
  /// thrown from the owner's io_context.
  GatewayThread(asio::io_context& owner, const std::string& name);
  /// Waits for earlier requests, and for the end of the thread. Events that the owner has not read
  /// are dropped.
  ~GatewayThread();
  GatewayThread(const GatewayThread&) = delete;
  GatewayThread& operator=(const GatewayThread&) = delete;

  /// That of the thread.
  asio::io_context& io();

  /// Does something there, after all that was asked for before; nobody waits.
  template <class Work>
  void post(Work&& work) {
    if (!own_) return work();
    asio::post(io(), std::forward<Work>(work));
  }

  /// The same, but waits for the work, returns its result, and throws its exceptions. The owner
  /// reads earlier events of the thread before this returns, as if there were one thread.
  template <class Work>
  auto call(Work&& work) {
    using Result = std::decay_t<std::invoke_result_t<Work&>>;
    if (!own_) return Result(work());
    std::packaged_task<Result()> task(std::ref(work));
    std::future<Result> result = task.get_future();
    // The thread lets go of what was thrown before the owner sees it, who then frees it alone.
    const auto left = std::make_shared<std::promise<void>>();
    const std::future<void> over = left->get_future();
    asio::post(io(), [task = std::move(task), left]() mutable {
      task();
      task = {};
      left->set_value();
    });
    over.wait();
    hear();
    return result.get();
  }

  /// From that thread: runs `news` on the owner's thread, after all earlier ones.
  void tell(std::function<void()> news);

  /// A function to call on that thread. It calls `hear` on the owner's thread.
  template <class... Values, class Hear>
  std::function<void(Values...)> told(Hear hear) {
    if (!own_) return hear;
    return [this, heard = std::make_shared<Hear>(std::move(hear))](Values... values) {
      tell([heard, kept = std::tuple<std::decay_t<Values>...>(values...)] {
        std::apply(*heard, kept);
      });
    };
  }

 private:
  struct Own;  // the thread, and what is under way from it
  void hear();

  asio::io_context& owner_;
  std::unique_ptr<Own> own_;
};

}  // namespace isthmus::daemon
