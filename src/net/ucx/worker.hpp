// UCX for the nodes of an io_context: one worker, driven by the thread that has the turn. That
// thread polls it as it polls rings, or sleeps until UCX's file descriptor says that something has
// come.
#pragma once

#include <ucp/api/ucp.h>

#include <asio/execution_context.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/stream/watch.hpp"
#include "net/ucx/library.hpp"
#include "net/ucx/pipe.hpp"

namespace isthmus::net::ucx {

/// A message, until UCX needs its memory no more.
struct Chunk {
  Head head{};
  Pipe* owner = nullptr;  ///< none: the pipe has ended before
  class Worker* worker = nullptr;
  std::vector<std::byte> bytes{};
};

class Worker final : public asio::execution_context::service, public Watched {
 public:
  using key_type = Worker;
  static inline asio::execution_context::id id{};

  explicit Worker(asio::execution_context& context);
  ~Worker() override;

  /// Opened at the first call. Throws std::runtime_error with a sentence; then again each time.
  static Worker& of(asio::io_context& io);

  const Library& ucx() const { return *ucx_; }
  std::span<const std::byte> address() const { return address_; }
  /// As of Card.
  std::uint32_t version() const { return version_; }
  /// Bytes that a further pipe may have come here unread.
  std::size_t window() const;

  void add(Pipe& pipe);
  void remove(Pipe& pipe);
  /// Throws std::runtime_error.
  Wire* connect(Pipe& pipe, std::span<const std::byte> address);
  /// Ends the endpoint when all that was sent has left, or after kLinger.
  void retire(Wire* wire);
  /// Sends; the chunk comes back to its owner's `done`. False: all is done already.
  bool send(Wire& wire, std::unique_ptr<Chunk>& chunk);
  void has_news(Pipe& pipe);

  // ---- for Watch --------------------------------------------------------------------------------

  bool look() override;
  bool ready() const override;
  void asleep(bool is) override;

 private:
  struct Retired {
    Wire* wire = nullptr;
    void* request = nullptr;
    bool closing = false;  // else it is being flushed
    std::chrono::steady_clock::time_point limit{};
  };

  void shutdown() override;
  void open();
  bool advance();
  bool arm();
  void settle();
  void settle_soon();
  void listen();
  void nap();
  void end_retired();
  bool end(Retired& retired);
  static ucs_status_t arrived(void* worker, const void* header, std::size_t header_size, void* data,
                              std::size_t size, const ucp_am_recv_param_t* param);
  static void sent(void* request, ucs_status_t status, void* chunk);
  static void failed(void* wire, ucp_ep_h ep, ucs_status_t status);

  asio::io_context& io_;
  Watch& watch_;
  asio::posix::stream_descriptor events_;
  asio::steady_timer nap_;
  const Library* ucx_ = nullptr;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::string trouble_;  // why it cannot be opened
  std::vector<std::byte> address_;
  std::uint32_t version_ = 0;
  std::map<Key, Pipe*> pipes_;
  std::vector<Pipe*> news_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<Retired> retired_;
  std::size_t under_way_ = 0;  // chunks that UCX still needs
  std::chrono::microseconds pause_{};
  bool armed_ = false, listening_ = false, settling_ = false, napping_ = false;
  bool looking_ = false, over_ = false;
};

}  // namespace isthmus::net::ucx
