// Who looks at the rings of an io_context. Arrivals in shared memory wake nobody by themselves: the
// thread that runs the io_context either looks for them, again and again, while a program waits for
// the grid, or sleeps and is woken through a socket. Which of the two, the writers are told.
#pragma once

#include <asio/execution_context.hpp>
#include <vector>

namespace isthmus::net {

class RingStream;

/// All on the thread whose turn it is to run the io_context. Without calls of `stay_awake` every
/// arrival wakes the io_context, as a socket's does.
class RingWatch : public asio::execution_context::service {
 public:
  using key_type = RingWatch;
  static inline asio::execution_context::id id{};

  explicit RingWatch(asio::execution_context& context) : service(context) {}

  bool any() const { return !streams_.empty(); }
  /// From now on the caller looks, until it asks whether it may sleep.
  void stay_awake();
  bool awake() const { return awake_; }
  /// Ends the waits that have something to tell, from within this call. False: none had.
  bool look();
  /// True: whatever comes from now on wakes the io_context. False: look first.
  bool may_sleep();

  void add(RingStream& stream) { streams_.push_back(&stream); }
  void remove(RingStream& stream);

 private:
  void shutdown() override {}

  std::vector<RingStream*> streams_;  // null: gone during a look
  bool awake_ = false;
  bool looking_ = false;
};

}  // namespace isthmus::net
