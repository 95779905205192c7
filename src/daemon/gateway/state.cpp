#include "daemon/gateway/state.hpp"

#include <asio/post.hpp>
#include <utility>

#include "net/stream/last_words.hpp"

namespace isthmus::daemon {
namespace {

std::chrono::milliseconds in_ms(core::Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

struct Nobody final : GatewayUser {};

}  // namespace

Gateway::State::State(asio::io_context& context, GatewayConfig settings, GatewayUser& hears)
    : Common(context, std::move(settings), hears),
      sharing(*this),
      tuning(*this, sharing),
      processes(*this, sharing, presence),
      links(*this, tuning, sharing, readiness, presence),
      control(*this, processes, sharing, tuning, readiness, presence),
      junctions(*this),
      close_timer_(context) {}

// ---- newcomers --------------------------------------------------------------------------------

std::optional<std::string> Gateway::State::objection(
    const net::Listener::Newcomer& newcomer) const {
  if (faulted) return "the job has failed already";
  if (closing) return "the job is over";
  return core::is_gateway(newcomer.node) ? links.objection(newcomer)
                                         : processes.objection(newcomer);
}

void Gateway::State::welcome(net::Listener::Newcomer newcomer) {
  if (closed) return;
  if (config.anew && !router.world()) {
    early_.push_back(std::move(newcomer));
    return;
  }
  const bool from_gateway = core::is_gateway(newcomer.node);
  if (from_gateway && links.stale(newcomer)) {
    net::tell_anew(newcomer.stream, config.node, newcomer.node);
    return;
  }
  if (const auto reason = objection(newcomer)) {
    net::refuse(newcomer.stream, config.node, newcomer.node, *reason);
    user->rejected(newcomer.stream->where() + ": " + *reason);
    return;
  }
  if (from_gateway) {
    links.welcome(std::move(newcomer));
  } else {
    processes.welcome(std::move(newcomer));
  }
}

void Gateway::State::welcome_early() {
  for (auto& newcomer : std::exchange(early_, {})) welcome(std::move(newcomer));
}

// ---- frames, and what follows from them -------------------------------------------------------

bool Gateway::State::frame(Peer& from, const core::InFrame& frame, std::uint16_t hops) {
  if (core::is_routed(frame.kind)) return router.take(*from.neighbour, frame, hops);
  if (frame.kind == core::FrameKind::Control && !from.is_junction()) control.take(from, frame);
  return true;
}

void Gateway::State::progress(Peer& peer) {
  router.progress(*peer.neighbour);
  act();
  tuning.stir(peer);
  if (closing) check_closed();
}

void Gateway::State::act() {
  control.check_done();
  while (const auto action = router.poll()) perform(*action);
}

void Gateway::State::perform(const core::Router::Action& action) {
  using What = core::Router::Action::What;
  switch (action.what) {
    case What::Flush: {
      Peer& peer = *peers.find(action.neighbour->node);
      peer.driver->flush();
      router.progress(*peer.neighbour);
      tuning.stir(peer);
      break;
    }
    case What::Lost:
      peers.tell_all(net::control::Lost{
          action.cluster, action.sentence,
          action.process == core::kNobody ? -1 : static_cast<int>(action.process)});
      break;
    case What::Silent:
      peers.tell_processes(net::control::Silent{action.cluster, action.ask});
      break;
    case What::Heard:
      peers.tell_processes(net::control::Heard{action.cluster});
      break;
    case What::Waiting:
    case What::Resumed: {
      const core::Time patience = action.neighbour->conduit->config().patience;
      user->silence({config.node, action.neighbour->node, in_ms(action.length), in_ms(patience),
                     action.what == What::Resumed});
      break;
    }
    case What::Warn:
      user->warning(action.sentence);
      break;
    case What::Suspect:
      suspect(action.cluster, action.sentence);
      break;
    case What::Fail:
      fault(action.sentence);
      break;
  }
}

bool Gateway::State::fail(const net::ControlBody& news, const std::string& sentence,
                          core::NodeId except) {
  if (std::exchange(faulted, true)) return false;
  router.stop();
  peers.tell_all(news, except);
  act();
  links.settle(sentence);
  return true;
}

// ---- closing ----------------------------------------------------------------------------------

void Gateway::State::close(std::function<void()> done) {
  closing = true;
  close_done_ = std::move(done);
  peers.say_goodbye();
  close_timer_.expires_after(std::chrono::milliseconds(900));
  close_timer_.async_wait(guarded([this](const std::error_code& error) {
    if (!error) close_now();
  }));
  asio::post(io, guarded([this] { check_closed(); }));
}

void Gateway::State::check_closed() {
  if (closing && !closed && peers.flushed()) close_now();
}

void Gateway::State::close_now() {
  if (closed) return;
  closed = true;
  close_timer_.cancel();
  links.close();
  tuning.close();
  for (const auto& newcomer : std::exchange(early_, {})) newcomer.stream->close();
  if (entrance) entrance->close();
  junctions.close();
  peers.close();
  // On its own, so that the one who asked may destroy the gateway.
  if (close_done_) asio::post(io, std::exchange(close_done_, nullptr));
}

void Gateway::State::drop() {
  static Nobody nobody;
  user = &nobody;
  close_done_ = nullptr;
  close_now();
}

}  // namespace isthmus::daemon
