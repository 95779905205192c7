// Connections between gateways that can be cut. For tests.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/gateway/gateway_testbed.hpp"
#include "net/host/address.hpp"

namespace isthmus::daemon {

/// Stands between two gateways and can cut every connection.
class Proxy : public std::enable_shared_from_this<Proxy> {
 public:
  Proxy(asio::io_context& io, const std::string& target)
      : io_(io),
        acceptor_(io, asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
        address_("tcp:127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port())),
        target_(asio::ip::make_address("127.0.0.1"), net::parse_address(target).port) {}
  /// In front of gateway `target`.
  static std::shared_ptr<Proxy> make(Testbed& bed, std::size_t target = 1) {
    return bed.on_io([&] {
      auto proxy = std::make_shared<Proxy>(bed.io(), bed.addresses(target)[0]);
      proxy->accept();
      return proxy;
    });
  }
  const std::string& address() const { return address_; }
  int connections() const { return connections_; }
  /// On the testbed's thread. All connections end; new ones are let through.
  void cut() {
    for (auto& pair : pairs_) pair->close();
    pairs_.clear();
  }
  /// On the testbed's thread. The front ends see the end of their connections, and the ends behind
  /// the proxy do not.
  void cut_front() {
    std::error_code ignored;
    for (auto& pair : pairs_) pair->a.close(ignored);
  }
  /// On the testbed's thread. While it is on nothing passes; connections stand, and new ones are
  /// accepted.
  void hold(bool on) {
    held_ = on;
    if (!on) {
      for (auto& go_on : std::exchange(waiting_, {})) go_on();
    }
  }
  /// On the testbed's thread. For good.
  void close() {
    acceptor_.close();
    cut();
  }

 private:
  struct Pair : std::enable_shared_from_this<Pair> {
    Pair(asio::io_context& io, Proxy& owner) : proxy(owner), a(io), b(io) {}
    Proxy& proxy;
    asio::ip::tcp::socket a, b;
    std::array<char, 30'000> to_a{}, to_b{};
    void close() {
      std::error_code ignored;
      a.close(ignored);
      b.close(ignored);
    }
    void copy(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to,
              std::array<char, 30'000>& buffer) {
      from.async_read_some(asio::buffer(buffer), [this, self = shared_from_this(), &from, &to,
                                                  &buffer](std::error_code error, std::size_t n) {
        if (!a.is_open() && !b.is_open()) return;  // cut; the proxy may be gone
        if (error && proxy.held_) return;          // the other end sees nothing of it
        if (error) return close();
        if (proxy.held_) {
          proxy.waiting_.push_back([this, self, &from, &to, &buffer, n] {
            if (a.is_open()) pass(from, to, buffer, n);
          });
          return;
        }
        pass(from, to, buffer, n);
      });
    }
    void pass(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to,
              std::array<char, 30'000>& buffer, std::size_t n) {
      asio::async_write(
          to, asio::buffer(buffer, n),
          [this, self = shared_from_this(), &from, &to, &buffer](std::error_code e, std::size_t) {
            if (e) return close();
            copy(from, to, buffer);
          });
    }
  };

  void accept() {
    auto pair = std::make_shared<Pair>(io_, *this);
    acceptor_.async_accept(pair->a, [this, self = shared_from_this(), pair](std::error_code error) {
      if (error || !acceptor_.is_open()) return;
      ++connections_;
      pair->b.connect(target_, error);
      if (!error) {
        pairs_.push_back(pair);
        pair->copy(pair->a, pair->b, pair->to_b);
        pair->copy(pair->b, pair->a, pair->to_a);
      }
      accept();
    });
  }

  asio::io_context& io_;
  asio::ip::tcp::acceptor acceptor_;
  std::string address_;
  asio::ip::tcp::endpoint target_;
  std::vector<std::shared_ptr<Pair>> pairs_;
  int connections_ = 0;
  bool held_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace isthmus::daemon
