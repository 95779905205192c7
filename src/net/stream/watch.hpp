// Polls memory that other processes write for those of an io_context: rings, and queues of UCX. It
// also polls sockets (net/waiting/socket_look.hpp). Arrivals there wake no thread by themselves.
// While a program waits for the grid, the thread that runs the io_context polls again and again.
// Otherwise it sleeps, and is woken through a file descriptor. The writers know which of the two it
// does.
#pragma once

#include <asio/execution_context.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace isthmus::net {

/// What is looked at.
class Watched {
 public:
  /// Ends the waits that have something to tell. False: none had.
  virtual bool look() = 0;
  /// Some wait has something to tell.
  virtual bool ready() const = 0;
  /// Whether the io_context is to be woken when a wait has something to tell.
  virtual void asleep(bool is) = 0;
  /// The io_context ends: drops waits without ending them, since they may own this.
  virtual void forget() {}

 protected:
  ~Watched() = default;
};

/// All on the thread whose turn it is to run the io_context. Without calls of `stay_awake` every
/// arrival wakes the io_context, as a socket's does.
class Watch : public asio::execution_context::service {
 public:
  using key_type = Watch;
  static inline asio::execution_context::id id{};

  explicit Watch(asio::execution_context& context) : service(context) {}

  bool any() const { return !watched_.empty(); }
  std::size_t size() const { return watched_.size(); }
  /// The caller polls from now on, until it asks whether it may sleep.
  void stay_awake();
  bool awake() const { return awake_; }
  /// Ends the waits that have something to tell, from within this call. False: none had.
  bool look();
  /// True: whatever comes from now on wakes the io_context. False: look first.
  bool may_sleep();

  /// Arrivals that have woken the io_context, ever.
  std::uint64_t wakings() const { return wakings_; }
  void woken() { ++wakings_; }

  void add(Watched& watched) { watched_.push_back(&watched); }
  void remove(Watched& watched);
  /// The same of one that looks at a socket.
  void add_socket(Watched& watched) {
    add(watched);
    ++sockets_;
  }
  void remove_socket(Watched& watched) {
    remove(watched);
    --sockets_;
  }
  std::size_t sockets() const { return sockets_; }

 private:
  void shutdown() override;

  std::vector<Watched*> watched_;  // null: gone during a look
  std::size_t sockets_ = 0;
  std::uint64_t wakings_ = 0;
  bool awake_ = false;
  bool looking_ = false;
};

}  // namespace isthmus::net
