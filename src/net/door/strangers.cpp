#include "net/door/strangers.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "net/stream/handshake.hpp"

namespace isthmus::net {
namespace {

core::Admission::Limits affordable(core::Admission::Limits limits) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return limits;
  limits.total = std::min<std::size_t>(limits.total, files.rlim_cur / 4);
  return limits;
}

}  // namespace

Strangers::Strangers(const core::Admission::Limits& limits)
    : admission_(affordable(limits), random_session()) {}

Strangers::Place::Place(Strangers& door, const core::PeerAddress& from, std::function<void()> drop)
    : door_(door), drop_(std::move(drop)) {
  const auto admitted = door_.admission_.arrives(from);
  ticket_ = admitted.ticket;
  door_.places_.emplace(ticket_, this);
  if (!admitted.dropped) return;
  const auto found = door_.places_.extract(*admitted.dropped);
  found.mapped()->dropped_ = true;
  found.mapped()->drop_();
}

Strangers::Place::~Place() {
  if (!dropped_ && !served_) ++door_.refused_;
  door_.places_.erase(ticket_);
  door_.admission_.left(ticket_);
}

void Strangers::Place::proved() {
  served_ = true;
  door_.places_.erase(ticket_);
  door_.admission_.proved(ticket_);
}

}  // namespace isthmus::net
