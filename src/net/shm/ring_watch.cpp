#include "net/shm/ring_watch.hpp"

#include <algorithm>

#include "net/shm/ring_stream.hpp"

namespace isthmus::net {

void RingWatch::stay_awake() {
  if (awake_) return;
  awake_ = true;
  for (RingStream* const stream : streams_) stream->asleep(false);
}

bool RingWatch::look() {
  if (looking_) return false;  // a wait's end has brought us here
  looking_ = true;
  bool any = false;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i] != nullptr) any = streams_[i]->look() || any;
  }
  std::erase(streams_, nullptr);
  looking_ = false;
  return any;
}

bool RingWatch::may_sleep() {
  if (!awake_) return true;
  awake_ = false;
  bool quiet = true;
  for (RingStream* const stream : streams_) {
    stream->asleep(true);
    quiet = quiet && !stream->ready();
  }
  return quiet;
}

void RingWatch::remove(RingStream& stream) {
  const auto at = std::find(streams_.begin(), streams_.end(), &stream);
  if (at == streams_.end()) return;
  *at = nullptr;
  if (!looking_) streams_.erase(at);
}

}  // namespace isthmus::net
