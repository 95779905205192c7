// A gateway of this process's cluster, and the conduit to it.
#pragma once

#include <asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/world/world.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/endpoint/endpoint.hpp"

namespace isthmus::net {

/// It opens the conduit and its streams, and gives the endpoint what comes by them. On the thread
/// whose turn it is.
class Endpoint::Gate final : public ConduitUser {
 public:
  /// `number` is its index among the endpoint's gates.
  Gate(Io& owner, std::size_t number, core::Gateway its)
      : index(number), gateway(std::move(its)), io_(owner) {}

  /// Opens the conduit, or tells a fault.
  void connect();
  /// It takes frames.
  bool is_open() const { return driver && !driver->closed(); }
  /// Submits the body of a Control frame. The gate is open.
  void submit(std::span<const std::byte> control);
  /// The same, and writes it.
  void say(std::span<const std::byte> control);
  /// This process goes on without the gateway, which may come back: tells it then.
  void tell_given_up();
  std::string name() const;  ///< for messages

  bool frame(const core::InFrame& frame, std::uint16_t hops) override;
  core::Landing place(const core::InFrame& beginning) override;
  void progress() override;
  void connected() override;
  /// Tries to have another connection, which takes the conduit up.
  void lost(const Loss& loss) override;
  void ended() override;
  void dead(const std::string& reason) override;

  const std::size_t index;
  const core::Gateway gateway;
  std::shared_ptr<ConduitDriver> driver;  // null: no stream has been open yet
  bool is_connected = false;
  bool ready = false;
  bool gone = false;  // its connection has ended

 private:
  std::size_t ring_bytes() const;
  asio::awaitable<std::shared_ptr<Stream>> dial(int segment) const;
  asio::awaitable<void> connecting();
  asio::awaitable<void> reconnecting(core::Time until, std::string why);
  asio::awaitable<void> telling();
  void attach(std::shared_ptr<Stream> stream);

  Io& io_;
};

}  // namespace isthmus::net
