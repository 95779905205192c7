#include "daemon/agent/patience.hpp"

#include <utility>

namespace isthmus::daemon {
namespace {

constexpr int kParts = 8;  // of a patience

}  // namespace

void Patience::have(std::chrono::milliseconds patience) {
  patience_ = patience;
  silences_ = 0;
  timer_.cancel();
  if (patience_.count() > 0) wait();
}

// In parts: after a stop of this process, what has come meanwhile is read before the next.
void Patience::wait() {
  timer_.expires_after(patience_ / kParts);
  timer_.async_wait([this](const std::error_code& error) {
    if (error || patience_.count() == 0) return;
    const bool heard = std::exchange(heard_, channel_.received()) != channel_.received();
    silences_ = heard || channel_.held() ? 0 : silences_ + 1;
    if (silences_ <= kParts) return wait();
    over_();
  });
}

}  // namespace isthmus::daemon
