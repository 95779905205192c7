#include "net/stream/watch.hpp"

#include <algorithm>

namespace isthmus::net {

void Watch::stay_awake() {
  if (awake_) return;
  awake_ = true;
  for (Watched* const watched : watched_) watched->asleep(false);
}

bool Watch::look() {
  if (looking_) return false;  // a wait's end has brought us here
  looking_ = true;
  bool any = false;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (watched_[i] != nullptr) any = watched_[i]->look() || any;
  }
  std::erase(watched_, nullptr);
  looking_ = false;
  return any;
}

bool Watch::may_sleep() {
  if (!awake_) return true;
  awake_ = false;
  bool quiet = true;
  for (Watched* const watched : watched_) {
    watched->asleep(true);
    quiet = quiet && !watched->ready();
  }
  return quiet;
}

void Watch::shutdown() {
  looking_ = true;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (watched_[i] != nullptr) watched_[i]->forget();
  }
}

void Watch::remove(Watched& watched) {
  const auto at = std::find(watched_.begin(), watched_.end(), &watched);
  if (at == watched_.end()) return;
  *at = nullptr;
  if (!looking_) watched_.erase(at);
}

}  // namespace isthmus::net
