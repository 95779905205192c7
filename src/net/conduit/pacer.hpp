// Keeps the conduits of a process to one link under the link's rate. They take turns. If others
// share the link, this process has a part of the rate (core/streams/shares.hpp). All on one
// io_context thread.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/claim.hpp"
#include "core/streams/pace.hpp"

namespace isthmus::net {

class ConduitDriver;

class Pacer : public std::enable_shared_from_this<Pacer> {
 public:
  explicit Pacer(asio::io_context& io) : timer_(io), claim_timer_(io) {}

  /// Bytes a second; 0: as the network takes it.
  void set_rate(double bytes_per_second);
  /// Others share the link: `tell` hears what part of the rate could be used here, as core::Claim
  /// has it, in the middle of writing; share() what it may be. Until then it is `part`. After
  /// set_rate().
  void share_with(double part, core::Pace::Time round_trip, std::function<void(double part)> tell);
  void share(double part);

  /// Whether it is this driver's turn to send bulk.
  bool may_send(const ConduitDriver& driver);
  void sent(std::size_t bytes);
  /// It has bulk, and is to be called (ConduitDriver::take_turn) when it may send.
  void wait(const std::shared_ptr<ConduitDriver>& driver);
  /// Calls nobody any more.
  void close();

 private:
  void arm();
  void serve();
  void look();

  double rate_ = 0;
  core::Pace pace_;
  asio::steady_timer timer_;
  bool armed_ = false, closed_ = false;
  std::deque<std::weak_ptr<ConduitDriver>> waiting_;
  const ConduitDriver* served_ = nullptr;
  std::optional<core::Claim> claim_;
  std::function<void(double part)> tell_;
  asio::steady_timer claim_timer_;
  bool claim_armed_ = false;
};

}  // namespace isthmus::net
