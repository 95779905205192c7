// The conduits that a gateway opens to others, and opens again when they are lost.
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "core/time_text.hpp"
#include "daemon/gateway/state.hpp"
#include "daemon/log/log.hpp"
#include "net/connect.hpp"
#include "net/handshake.hpp"
#include "net/shm/ring_stream.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::chrono::milliseconds kRedial{200}, kMaxRedial{2000};

}  // namespace

std::string Gateway::State::link_name(core::NodeId to) const {
  const auto mine = dialled.find(to);
  std::string where = mine != dialled.end() && !mine->second.link.addresses.empty()
                          ? mine->second.link.addresses.front()
                          : "";
  const auto peer = peers.find(to);
  if (where.empty() && peer != peers.end()) where = peer->second->where;
  return "from " + name(config.node) + " to " + name(to) +
         (where.empty() ? "" : " (" + where + ")");
}

void Gateway::State::open_links(std::vector<GatewayLink> links,
                                std::function<void(const std::string&)> done) {
  links_done = std::move(done);
  for (auto& link : links) {
    const core::NodeId to = link.to;
    dialled[to].link = std::move(link);
    const auto known = peers.find(to);
    if (known != peers.end() && known->second->driver->conduit().connected()) {
      dialled[to].up = true;  // it was quicker and has opened the conduit to us
      continue;
    }
    dial_all(to);
  }
  link_timer.expires_after(config.connect_timeout);
  link_timer.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    for (const auto& [to, link] : self->dialled) {
      if (link.up) continue;
      self->links_settled("the link " + self->link_name(to) + " could not be opened within " +
                          core::time_text(self->config.connect_timeout) + ": " +
                          (link.last_failure.empty() ? "no answer (is the host up, or does a "
                                                       "firewall drop what is sent to this port?)"
                                                     : link.last_failure));
      return;
    }
  });
  links_settled({});
}

// Dials the number of streams that the link begins with.
void Gateway::State::dial_all(core::NodeId to) {
  const GatewayLink& made = dialled[to].link;
  const int streams = made.net == core::Net::Ucx ? 1
                      : made.streams > 0
                          ? made.streams
                          : core::streams_for(static_cast<double>(made.rate), made.rtt,
                                              static_cast<double>(net::tcp_window_ceiling()));
  for (int i = dialled[to].dialling; i < streams; ++i) dial(to);
}

void Gateway::State::dial(core::NodeId to) {
  ++dialled[to].dialling;
  asio::co_spawn(io, dialling(shared_from_this(), to),
                 [weak = weak_from_this(), to](const std::exception_ptr&) {
                   if (const auto self = weak.lock()) --self->dialled[to].dialling;
                 });
}

// Tries the addresses in turn, or the first service that has the other end.
asio::awaitable<std::shared_ptr<net::Stream>> Gateway::State::connected(std::shared_ptr<State> self,
                                                                        GatewayLink link) {
  net::ConnectOptions options;
  options.encrypt_loopback = options.encrypt_remote = link.encrypt;
  options.net = link.encrypt ? core::Net::Tcp : link.net;  // UCX does not encrypt
  options.self = self->config.node;
  options.ring_bytes = net::RingStream::kMost;
  options.segment = self->segment_to(link.to);
  options.limit = std::min(options.limit, self->config.connect_timeout / 2);
  options.handshake_limit = std::min(options.handshake_limit, self->config.connect_timeout / 2);
  const net::Credentials credentials{self->config.job, self->config.secret};
  const std::string scheme = net::kServiceScheme;
  if (link.addresses.empty() || !link.addresses.front().starts_with(scheme)) {
    co_return co_await net::connect(link.addresses, credentials, options);
  }
  std::vector<net::Service> services;
  for (const std::string& address : link.addresses) {
    const net::Service* const service = self->service_at(address.substr(scheme.size()));
    if (service == nullptr) throw net::Refusal("no key is known for " + address);
    services.push_back(*service);
  }
  co_return co_await net::call(std::move(services), link.to, credentials,
                               link.encrypt ? net::Protection::Encrypted : net::Protection::Plain,
                               options.limit);
}

// The largest that a stream of the link may have; 0: as the path has it. Tells the user once.
int Gateway::State::segment_to(core::NodeId to) {
  const auto known = peers.find(to);
  if (known == peers.end() || !known->second->driver->wants_small_segments()) return 0;
  constexpr int kSmall = net::FullPackets::kSmallSegment;
  if (!std::exchange(known->second->told_small, true) && events.warning) {
    events.warning("the link " + link_name(to) +
                   " opens but full-sized packets do not pass; from now on it sends segments of " +
                   std::to_string(kSmall) +
                   " bytes. Some network on the way takes smaller packets than the hosts' MTU, and "
                   "drops the ICMP messages that say so: let them pass, or lower the MTU of the "
                   "hosts");
  }
  return kSmall;
}

asio::awaitable<void> Gateway::State::dialling(std::shared_ptr<State> self, core::NodeId to) {
  const GatewayLink link = self->dialled[to].link;
  std::chrono::milliseconds pause = kRedial;
  // Ends with success, with the conduit (its patience), or before the first with connect_timeout.
  while (!self->closing && !self->closed && !self->faulted) {
    const auto known = self->peers.find(to);
    if (known != self->peers.end() &&
        (known->second->neighbour->left || known->second->driver->closed())) {
      co_return;
    }
    bool hopeless = false;
    try {
      auto stream = co_await connected(self, link);
      if (self->closing || self->closed || self->faulted) co_return;
      PeerPtr peer = self->peers.contains(to) ? self->peers[to] : self->add_peer(to, false);
      peer->where = stream->where();
      peer->driver->attach(std::move(stream));
      co_return;
    } catch (const net::Refusal& e) {
      self->dialled[to].last_failure = e.what();
      hopeless = !self->dialled[to].up;
    } catch (const std::exception& e) {
      self->dialled[to].last_failure = e.what();
    }
    if (hopeless) {
      self->links_settled("the link " + self->link_name(to) +
                          " cannot be opened: " + self->dialled[to].last_failure);
      co_return;
    }
    if (!self->dialled[to].up && !self->links_done) co_return;  // time was up
    asio::steady_timer timer(self->io, pause);
    co_await timer.async_wait(asio::use_awaitable);
    pause = std::min(2 * pause, kMaxRedial);
  }
}

// The peer's Hello has been heard.
void Gateway::State::link_up(core::NodeId to) {
  const auto mine = dialled.find(to);
  if (mine == dialled.end()) return;
  mine->second.last_failure.clear();
  log::debug("a stream of the link {} stands", link_name(to));
  Peer& peer = *peers.at(to);
  if (const auto& link = mine->second.link; !std::exchange(peer.told_link, true)) {
    set_rate(peer, link.rate);
    set_congestion(peer, link.congestion);
    set_compress(peer, link.compress);
    tell(peer, net::control::Link{.rate = link.rate,
                                  .patience = link.patience,
                                  .congestion = link.congestion,
                                  .compress = link.compress});
    act();
  }
  mine->second.up = true;
  links_settled({});
}

// Calls `done` of link() when there is something to say: an error, or that all links are up.
void Gateway::State::links_settled(const std::string& error) {
  if (!links_done) return;
  if (error.empty()) {
    for (const auto& [to, link] : dialled) {
      if (!link.up) return;
    }
  }
  link_timer.cancel();
  asio::post(io, [done = std::exchange(links_done, nullptr), error] { done(error); });
}

}  // namespace isthmus::daemon
