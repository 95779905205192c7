// Looks at a socket for news while a program waits for them, without asking the kernel first
// whether there are any. A message takes four more system calls by epoll. asio asks for the next
// event by epoll_ctl. Once a write has blocked, that also reports room to write (1.22, November
// 2026).
#pragma once

#include <cstddef>
#include <utility>

#include "net/stream/watch.hpp"

namespace isthmus::net {

/// On the thread whose turn it is, as Watch. The socket's own wait goes on meanwhile, and sees what
/// a look has left.
class SocketLook : public Watched {
 public:
  /// After this many looks in a row that find nothing, the polling ends until epoll reports news.
  static constexpr unsigned kVain = 256;
  /// Each look takes a third of a microsecond, as long as to ask for the news of all.
  static constexpr std::size_t kMost = 2;

  SocketLook(const SocketLook&) = delete;
  SocketLook& operator=(const SocketLook&) = delete;

  bool look() override {
    if (read_news()) {
      vain_ = 0;
      return true;
    }
    if (++vain_ >= kVain) end_looks();
    return false;
  }
  bool ready() const override { return false; }  // the socket's own wait wakes the io_context
  void asleep(bool /*is*/) override {}
  void forget() override { looks_ = false; }

 protected:
  explicit SocketLook(Watch& watch) : watch_(watch) {}
  ~SocketLook() { end_looks(); }

  /// Reads what there is; false: nothing.
  virtual bool read_news() = 0;

  /// News have come: more may.
  void begin_looks() {
    vain_ = 0;
    if (looks_ || !watch_.awake() || watch_.sockets() >= kMost) return;
    looks_ = true;
    watch_.add_socket(*this);
  }
  void end_looks() {
    if (std::exchange(looks_, false)) watch_.remove_socket(*this);
  }

 private:
  Watch& watch_;
  unsigned vain_ = 0;
  bool looks_ = false;
};

}  // namespace isthmus::net
