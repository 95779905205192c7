// Keeps what many connections read together under a rate. A connection that asks gets some of the
// available bytes or waits its turn. Waiting ones are served in order.
#pragma once

#include <algorithm>
#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>

namespace isthmus::daemon {

class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TokenBucket(asio::io_context& io) : io_(io) {}

  /// Bytes a second; 0: any.
  void set_rate(std::uint64_t rate) {
    refill();
    rate_ = rate;
    tokens_ = std::min(tokens_, burst());
  }

  /// Returns from 1 to `most`: bytes that may be read now.
  asio::awaitable<std::size_t> take(std::size_t most) {
    if (rate_ == 0) co_return most;
    refill();
    // A slice, so that every connection gets a turn within the burst.
    const double wanted = std::min<double>(static_cast<double>(most), kSlice);
    // Taken before it waits, so later ones wait behind it.
    tokens_ -= wanted;
    if (tokens_ < 0) {
      const std::chrono::duration<double> wait(-tokens_ / static_cast<double>(rate_));
      waited_ += wait;
      asio::steady_timer timer(io_, std::chrono::duration_cast<Clock::duration>(wait));
      std::error_code ignored;
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_return static_cast<std::size_t>(wanted);
  }

  /// Gives back bytes that were taken but not read.
  void give_back(std::size_t bytes) {
    if (rate_ != 0) tokens_ = std::min(tokens_ + static_cast<double>(bytes), burst());
  }

  /// The sum of all waits.
  std::chrono::duration<double> waited() const { return waited_; }

 private:
  static constexpr double kSlice = 65536;

  double burst() const { return std::max(kSlice, static_cast<double>(rate_) / 20); }

  void refill() {
    const auto now = Clock::now();
    const std::chrono::duration<double> passed = now - last_;
    last_ = now;
    tokens_ = std::min(tokens_ + passed.count() * static_cast<double>(rate_), burst());
  }

  asio::io_context& io_;
  std::uint64_t rate_ = 0;
  double tokens_ = 0;
  Clock::time_point last_ = Clock::now();
  std::chrono::duration<double> waited_{};
};

}  // namespace isthmus::daemon
