// How a gateway drives core::Router: it hands frames in, and performs the actions that follow.
#include <utility>

#include "daemon/gateway/state.hpp"

namespace isthmus::daemon {
namespace {

std::chrono::milliseconds in_ms(core::Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

}  // namespace

// True: consumed.
bool Gateway::State::take(Peer& from, const core::InFrame& frame, std::uint16_t hops) {
  if (core::is_routed(frame.kind)) return router.take(*from.neighbour, frame, hops);
  if (frame.kind == core::FrameKind::Control) control(from, frame);
  return true;
}

// Something has been read from a peer: frames for others, and maybe acknowledgements.
void Gateway::State::progress(Peer& peer) {
  router.progress(*peer.neighbour);
  act();
  stir(peer);
  if (closing) check_closed();
}

// Does what the router wants done.
void Gateway::State::act() {
  using What = core::Router::Action::What;
  while (const auto action = router.poll()) {
    switch (action->what) {
      case What::Flush: {
        const PeerPtr peer = peers.at(action->neighbour->node);
        peer->driver->flush_soon();
        router.progress(*peer->neighbour);
        stir(*peer);
        break;
      }
      case What::Lost:
        tell_all(net::control::Lost{
            action->cluster, action->sentence,
            action->process == core::kNobody ? -1 : static_cast<int>(action->process)});
        break;
      case What::Silent:
        tell_processes(net::control::Silent{action->cluster, action->ask});
        break;
      case What::Heard:
        tell_processes(net::control::Heard{action->cluster});
        break;
      case What::Waiting:
      case What::Resumed:
        if (events.silence) {
          const core::Time patience = action->neighbour->conduit->config().patience;
          events.silence({config.node, action->neighbour->node, in_ms(action->length),
                          in_ms(patience), action->what == What::Resumed});
        }
        break;
      case What::Warn:
        if (events.warning) events.warning(action->sentence);
        break;
      case What::Fail:
        fault(action->sentence);
        break;
    }
  }
}

}  // namespace isthmus::daemon
