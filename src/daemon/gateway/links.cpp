#include "daemon/gateway/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "core/base/time_text.hpp"
#include "daemon/log/log.hpp"
#include "net/door/connect.hpp"
#include "net/shm/ring_stream.hpp"
#include "net/stream/handshake.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::chrono::milliseconds kRedial{200}, kMaxRedial{2000};

}  // namespace

Links::Links(Common& gateway, Tuning& tuning, Sharing& sharing, const Readiness& readiness,
             const Presence& presence)
    : gateway_(gateway),
      tuning_(tuning),
      sharing_(sharing),
      readiness_(readiness),
      presence_(presence),
      timer_(gateway.io) {
  tuning_.open_by(*this);
}

Links::Dialled* Links::dialled_to(core::NodeId to) {
  const auto found = dialled_.find(to);
  return found == dialled_.end() ? nullptr : &found->second;
}

std::string Links::name(core::NodeId to) const {
  const auto mine = dialled_.find(to);
  std::string where = mine != dialled_.end() && !mine->second.link.addresses.empty()
                          ? mine->second.link.addresses.front()
                          : "";
  const Peer* const peer = gateway_.peers.find(to);
  if (where.empty() && peer != nullptr) where = peer->where;
  return fmt::format("from {} to {}{}", gateway_.name(gateway_.config.node), gateway_.name(to),
                     where.empty() ? "" : fmt::format(" ({})", where));
}

// ---- conduits opened from this side -----------------------------------------------------------

void Links::open(std::vector<GatewayLink> links, Done done) {
  done_ = std::move(done);
  for (auto& link : links) {
    const core::NodeId to = link.to;
    dialled_[to].link = std::move(link);
    const Peer* const known = gateway_.peers.find(to);
    if (known != nullptr && known->conduit().connected()) {
      dialled_[to].up = true;  // it was quicker and has opened the conduit to us
      continue;
    }
    dial_all(to);
  }
  timer_.expires_after(gateway_.config.connect_timeout);
  timer_.async_wait(gateway_.guarded([this](const std::error_code& error) {
    if (!error) time_is_up();
  }));
  settle({});
}

void Links::time_is_up() {
  for (const auto& [to, link] : dialled_) {
    if (link.up) continue;
    settle("the link " + name(to) + " could not be opened within " +
           core::time_text(gateway_.config.connect_timeout) + ": " +
           (link.last_failure.empty() ? "no answer (is the host up, or does a firewall drop what "
                                        "is sent to this port?)"
                                      : link.last_failure));
    return;
  }
}

void Links::settle(const std::string& error) {
  if (!done_) return;
  if (error.empty()) {
    for (const auto& [to, link] : dialled_) {
      if (!link.up) return;
    }
  }
  timer_.cancel();
  asio::post(gateway_.io, [done = std::exchange(done_, nullptr), error] { done(error); });
}

void Links::close() {
  done_ = nullptr;
  timer_.cancel();
}

// Dials the number of streams that the link begins with.
void Links::dial_all(core::NodeId to) {
  const GatewayLink& made = dialled_[to].link;
  const int streams = made.net == core::Net::Ucx ? 1
                      : made.streams > 0
                          ? made.streams
                          : core::streams_for(static_cast<double>(made.rate), made.rtt,
                                              static_cast<double>(net::tcp_window_ceiling()));
  for (int i = dialled_[to].dialling; i < streams; ++i) dial(to);
}

bool Links::want_streams(core::NodeId to, int streams) {
  const Dialled* const mine = dialled_to(to);
  if (mine == nullptr) return false;
  const Peer* const peer = gateway_.peers.find(to);
  if (peer == nullptr || mine->link.streams > 0) return true;
  const int have = static_cast<int>(peer->driver->streams()) + mine->dialling;
  for (int i = have; i < std::min(streams, core::kMostStreams); ++i) dial(to);
  return true;
}

void Links::dial(core::NodeId to) {
  ++dialled_[to].dialling;
  asio::co_spawn(
      gateway_.io, dialling(gateway_.shared_from_this(), to),
      gateway_.guarded([this, to](const std::exception_ptr&) { --dialled_[to].dialling; }));
}

asio::awaitable<void> Links::dialling([[maybe_unused]] std::shared_ptr<Common> alive,
                                      core::NodeId to) {
  const GatewayLink link = dialled_[to].link;
  std::chrono::milliseconds pause = kRedial;
  // Ends with success, with the conduit (its patience), or before the first with connect_timeout.
  while (!gateway_.over()) {
    const Peer* const known = gateway_.peers.find(to);
    if ((known != nullptr && !known->open()) || gateway_.router.forgotten(to)) co_return;
    bool hopeless = false;
    try {
      auto stream = co_await reach(link);
      if (gateway_.over()) co_return;
      Peer* const there = gateway_.peers.find(to);
      Peer& peer = there != nullptr ? *there : add(to);
      peer.where = stream->where();
      peer.driver->attach(std::move(stream));
      co_return;
    } catch (const net::Refusal& e) {
      dialled_[to].last_failure = e.what();
      hopeless = !dialled_[to].up;
    } catch (const std::exception& e) {
      dialled_[to].last_failure = e.what();
    }
    if (hopeless) {
      settle(fmt::format("the link {} cannot be opened: {}", name(to), dialled_[to].last_failure));
      co_return;
    }
    if (!dialled_[to].up && !done_) co_return;  // time was up
    asio::steady_timer timer(gateway_.io, pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(2 * pause, kMaxRedial);
  }
}

// Tries the addresses in turn, or the first service that has the other end.
asio::awaitable<std::shared_ptr<net::Stream>> Links::reach(GatewayLink link) {
  const GatewayConfig& config = gateway_.config;
  net::ConnectOptions options;
  options.encrypt_loopback = options.encrypt_remote = link.encrypt;
  options.net = link.encrypt ? core::Net::Tcp : link.net;  // UCX does not encrypt
  options.self = config.node;
  options.ring_bytes = net::RingStream::kMost;
  options.segment = segment_to(link.to);
  options.limit = std::min(options.limit, config.connect_timeout / 2);
  options.handshake_limit = std::min(options.handshake_limit, config.connect_timeout / 2);
  const net::Credentials credentials{config.job, config.secret};
  const std::string scheme = net::kServiceScheme;
  if (link.addresses.empty() || !link.addresses.front().starts_with(scheme)) {
    co_return co_await net::connect(link.addresses, credentials, options);
  }
  std::vector<net::Service> services;
  for (const std::string& address : link.addresses) {
    const net::Service* const service = gateway_.service_at(address.substr(scheme.size()));
    if (service == nullptr) throw net::Refusal("no key is known for " + address);
    services.push_back(*service);
  }
  co_return co_await net::call(std::move(services), link.to, credentials,
                               link.encrypt ? net::Protection::Encrypted : net::Protection::Plain,
                               options.limit);
}

// The largest that a stream of the link may have; 0: as the path has it. Warns the user once.
int Links::segment_to(core::NodeId to) {
  const Peer* const known = gateway_.peers.find(to);
  if (known == nullptr || !known->driver->wants_small_segments()) return 0;
  constexpr int kSmall = net::FullPackets::kSmallSegment;
  if (!std::exchange(dialled_[to].told_small, true)) {
    gateway_.user->warning(
        fmt::format("the link {} opens but full-sized packets do not pass; from now on it sends "
                    "segments of {} bytes. Some network on the way takes smaller packets than the "
                    "hosts' MTU, and drops the ICMP messages that say so: let them pass, or lower "
                    "the MTU of the hosts",
                    name(to), kSmall));
  }
  return kSmall;
}

// ---- gateways that come and go ----------------------------------------------------------------

std::optional<std::string> Links::objection(const net::Listener::Newcomer& newcomer) const {
  const core::NodeId node = newcomer.node;
  const bool by_ucx = newcomer.stream->leg() == net::Stream::Leg::Ucx;
  const Peer* const known = gateway_.peers.find(node);
  const auto& world = gateway_.router.world();
  if (node == gateway_.config.node) return fmt::format("this is gateway {} itself", node);
  if (world && world->gateway(node) == nullptr) {
    return fmt::format("gateway {} is not of this grid", node - core::kFirstGateway);
  }
  if (gateway_.router.forgotten(node)) {
    return "its cluster has failed, and the run goes on without it";
  }
  if (known != nullptr && known->neighbour->left) return "it has said goodbye already";
  if (known != nullptr && known->driver->closed()) return "has given up this link";
  if (gateway_.config.accept_plain) return std::nullopt;
  if (by_ucx) return "has no link without encryption, as UCX needs it";
  if (newcomer.exposed) {
    return "serves only encrypted connections of gateways; `encrypt` of the [[link]] must be the "
           "same on both sides";
  }
  return std::nullopt;
}

void Links::welcome(net::Listener::Newcomer newcomer) {
  Peer* const known = gateway_.peers.find(newcomer.node);
  Peer& peer = known != nullptr ? *known : add(newcomer.node);
  peer.came_by(newcomer);
  log::debug("{} connects from {}", gateway_.name(peer.node), peer.where);
  peer.driver->attach(std::move(newcomer.stream), newcomer.read);
}

core::ConduitConfig Links::settings(core::NodeId node) {
  core::ConduitConfig settings = gateway_.peers.settings(node);
  const Dialled* const mine = dialled_to(node);
  settings.patience = mine != nullptr && mine->link.patience.count() > 0 ? mine->link.patience
                                                                         : gateway_.config.patience;
  settings.buffer = settings.window = gateway_.config.link_bytes;
  settings.compressor = tuning_.begin(node);
  return settings;
}

Peer& Links::add(core::NodeId node) {
  Peer& peer = gateway_.peers.add(node, settings(node), *this);
  tell_what_is_known(peer);
  tuning_.plan();
  return peer;
}

// Sends a fellow gateway the news that it has missed.
void Links::tell_what_is_known(Peer& peer) {
  for (const auto& [gateway, part] : readiness_.known()) {
    gateway_.peers.tell(peer, net::control::Joined{gateway, part});
  }
}

void Links::connected(Peer& peer) {
  if (Dialled* const mine = dialled_to(peer.node)) {
    mine->last_failure.clear();
    log::debug("a stream of the link {} stands", name(peer.node));
    if (const GatewayLink& link = mine->link; !std::exchange(mine->told_use, true)) {
      tuning_.use(peer, link.rate, link.congestion, link.compress);
      gateway_.peers.tell(peer, net::control::Link{.rate = link.rate,
                                                   .patience = link.patience,
                                                   .congestion = link.congestion,
                                                   .compress = link.compress});
      gateway_.act();
    }
    mine->up = true;
    settle({});
  }
  tuning_.stir(peer);
}

void Links::lost(Peer& peer, const net::Loss& loss) {
  if (gateway_.closing) return gateway_.check_closed();
  log::debug("a stream of {} has ended: {}", gateway_.name(peer.node), loss.reason);
  if (Dialled* const mine = dialled_to(peer.node)) {
    mine->last_failure = loss.reason;
    dial(peer.node);
  }  // else its patience lasts
}

void Links::ended(Peer& peer) {
  log::debug("{} has left", gateway_.name(peer.node));
  sharing_.forget(peer.node);
  gateway_.router.left(*peer.neighbour);
  gateway_.act();
  if (gateway_.closing) return gateway_.check_closed();
  if (presence_.any_inside() && !is_unused(peer.node)) closed_too_early(peer);
}

void Links::closed_too_early(const Peer& peer) {
  const std::string sentence =
      gateway_.name(peer.node) + " has closed while the program was still running";
  const auto& world = gateway_.router.world();
  const core::Gateway* const gateway = world ? world->gateway(peer.node) : nullptr;
  if (gateway == nullptr || gateway->clusters.empty()) return gateway_.fault(sentence);
  for (const std::size_t cluster : gateway->clusters) gateway_.suspect(cluster, sentence);
}

void Links::abandon(core::NodeId node) {
  gateway_.router.abandon(node);
  if (Dialled* const mine = dialled_to(node)) mine->up = true;  // nobody waits for it
  forget();
}

void Links::forget() {
  for (auto& [node, peer] : gateway_.peers) {
    if (peer.is_process() || peer.is_junction() || !gateway_.router.forgotten(node)) continue;
    sharing_.forget(node);
    peer.driver->close();
  }
}

void Links::dead(Peer& peer, const std::string& reason) {
  if (gateway_.closing) return gateway_.check_closed();
  sharing_.forget(peer.node);
  if (peer.neighbour->left || gateway_.faulted || gateway_.router.forgotten(peer.node)) return;
  if (peer.conduit().peer_anew() && only_forwards(peer.node)) return renew(peer);
  std::string sentence = "the link " + name(peer.node) + " is lost: the other end " + reason;
  if (const Dialled* const mine = dialled_to(peer.node)) {
    if (!mine->last_failure.empty()) {
      sentence += "; the last that was heard of it: " + mine->last_failure;
    }
    if (!mine->up) settle(sentence);
  }
  gateway_.router.lost(*peer.neighbour, sentence);
  gateway_.act();
}

// ---- gateways that were started again ---------------------------------------------------------
//
// A gateway that serves no process, such as a relay, is started again when it dies. Its neighbours
// have in custody what it carried. So nothing is lost with it that cannot go again.

void Links::expect(const core::Routes& next) {
  for (const auto& [cluster, nodes] : next) {
    for (const core::NodeId node : nodes) {
      if (gateway_.peers.find(node) == nullptr) add(node);
    }
  }
}

bool Links::stale(const net::Listener::Newcomer& newcomer) const {
  if (!gateway_.config.anew || newcomer.resumes == 0) return false;
  const Peer* const known = gateway_.peers.find(newcomer.node);
  return known == nullptr || known->conduit().config().session != newcomer.resumes;
}

bool Links::only_forwards(core::NodeId node) const {
  const auto& world = gateway_.router.world();
  const core::Gateway* const gateway = world ? world->gateway(node) : nullptr;
  return gateway != nullptr && gateway->clusters.empty() && !gateway->late;
}

// It came late, and nothing needs it yet.
bool Links::is_unused(core::NodeId node) const {
  const auto& world = gateway_.router.world();
  const core::Gateway* const gateway = world ? world->gateway(node) : nullptr;
  return gateway != nullptr && gateway->clusters.empty() && gateway->late;
}

// The other end of a link is there again, and knows nothing of the conduit: another takes its
// place.
void Links::renew(Peer& peer) {
  log::info("{} was started anew; what it has lost is sent again", gateway_.name(peer.node));
  gateway_.peers.renew(peer, settings(peer.node));
  if (Dialled* const mine = dialled_to(peer.node)) mine->told_use = false;
  tell_what_is_known(peer);
  gateway_.router.renew(*peer.neighbour, peer.conduit());
  if (dialled_to(peer.node) != nullptr) dial_all(peer.node);
  gateway_.act();
  tuning_.plan();
}

}  // namespace isthmus::daemon
