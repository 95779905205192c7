#include "net/door/accept_all.hpp"

#include <sys/resource.h>

#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <utility>

namespace isthmus::net {

using asio::ip::tcp;

std::optional<std::string> short_of_files(const std::error_code& error) {
  if (error.value() == ENFILE) {
    return "accepts no connections: its host has as many files open as it can (sysctl fs.file-max)";
  }
  if (error.value() != EMFILE) return {};
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return "has as many files open as one process may (" + std::to_string(limit.rlim_cur) +
         "), and accepts no connections; raise the hard limit of open files there (ulimit -Hn, "
         "/etc/security/limits.conf)";
}

asio::awaitable<void> accept_all(std::shared_ptr<tcp::acceptor> door,
                                 std::function<void(tcp::socket)> welcome,
                                 std::function<void(const std::string&)> short_of) {
  asio::steady_timer pause(door->get_executor());
  while (door->is_open()) {
    std::error_code error;
    tcp::socket socket =
        co_await door->async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!door->is_open()) break;
    if (!error) {
      welcome(std::move(socket));
      continue;
    }
    const auto sentence = short_of_files(error);
    if (sentence && short_of) std::exchange(short_of, nullptr)(*sentence);
    pause.expires_after(kAcceptAgain);
    co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
  }
}

}  // namespace isthmus::net
