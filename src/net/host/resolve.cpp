#include "net/host/resolve.hpp"

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "core/base/time_text.hpp"

namespace isthmus::net {
namespace {

using asio::ip::tcp;

struct LookUp {
  LookUp(const asio::any_io_executor& executor, std::chrono::milliseconds limit)
      : resolver(executor), over(executor, limit) {}

  tcp::resolver resolver;
  asio::steady_timer over;  // the limit; cancelled at the answer
  std::error_code error = asio::error::timed_out;
  std::vector<tcp::endpoint> endpoints;
};

}  // namespace

asio::awaitable<std::vector<tcp::endpoint>> resolve(std::string host, std::uint16_t port,
                                                    std::chrono::milliseconds limit) {
  std::error_code error;
  const auto numeric = asio::ip::make_address(host, error);
  if (!error) co_return std::vector{tcp::endpoint(numeric, port)};
  const auto look_up = std::make_shared<LookUp>(co_await asio::this_coro::executor, limit);
  try {
    // A plain function takes the answer. asio's coroutines lose an exception of the call itself.
    look_up->resolver.async_resolve(host, std::to_string(port),
                                    [look_up](std::error_code failed, const auto& found) {
                                      look_up->error = failed;
                                      for (const auto& entry : found)
                                        look_up->endpoints.push_back(entry.endpoint());
                                      look_up->over.cancel();
                                    });
  } catch (const std::system_error& refused) {
    throw std::runtime_error("no thread to look up the host " + host + ": " +
                             refused.code().message() + " (raise the limit, ulimit -u)");
  }
  co_await look_up->over.async_wait(asio::redirect_error(asio::use_awaitable, error));
  if (look_up->error == asio::error::timed_out) {
    look_up->resolver.cancel();
    throw std::runtime_error("no answer about the name of the host within " +
                             core::time_text(limit));
  }
  if (look_up->error) {
    throw std::runtime_error("the host's name is not known (" + look_up->error.message() + ")");
  }
  co_return look_up->endpoints;
}

}  // namespace isthmus::net
