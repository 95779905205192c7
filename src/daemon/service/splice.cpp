#include "daemon/service/splice.hpp"

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <vector>

namespace isthmus::daemon {
namespace {

using net::Socket;

// One way. True: it has come to its end in good order.
asio::awaitable<bool> pump(std::shared_ptr<Socket> from, std::shared_ptr<Socket> to,
                           SpliceTerms terms) {
  std::vector<char> buffer;  // none while nothing comes
  std::error_code error;
  while (true) {
    co_await from->async_wait(Socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return false;
    buffer.resize(terms.buffer);
    const std::size_t own = co_await terms.key.take(buffer.size());
    const std::size_t most = co_await terms.user.take(own);
    const std::size_t size = co_await from->async_receive(
        asio::buffer(buffer.data(), most), asio::redirect_error(asio::use_awaitable, error));
    terms.user.give_back(most - size);
    terms.key.give_back(own - size);
    if (error == asio::error::eof) {
      to->shutdown(Socket::shutdown_send, error);
      co_return !error;
    }
    if (error) co_return false;
    terms.passed(size);
    co_await asio::async_write(*to, asio::buffer(buffer.data(), size),
                               asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return false;
  }
}

}  // namespace

asio::awaitable<void> splice(std::shared_ptr<Socket> one, std::shared_ptr<Socket> other,
                             SpliceTerms terms) {
  const auto executor = co_await asio::this_coro::executor;
  const auto close = [one, other] {
    std::error_code ignored;
    one->close(ignored);
    other->close(ignored);
  };
  // It never expires: the second way cancels it as it ends.
  auto both = std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
  auto ended = std::make_shared<bool>(false);
  asio::co_spawn(executor, pump(other, one, terms),
                 [close, both, ended](const std::exception_ptr& thrown, bool well) {
                   if (thrown || !well) close();
                   *ended = true;
                   both->cancel();
                 });
  if (!co_await pump(one, other, terms)) close();
  std::error_code ignored;
  if (!*ended) co_await both->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  close();
}

}  // namespace isthmus::daemon
