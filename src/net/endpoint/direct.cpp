#include "net/endpoint/direct.hpp"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <bit>
#include <utility>

#include "core/streams/stream_count.hpp"
#include "core/world/limits.hpp"
#include "net/door/connect.hpp"
#include "net/door/host_addresses.hpp"
#include "net/host/address.hpp"
#include "net/host/software.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/last_words.hpp"

namespace isthmus::net {
namespace {

// A connection that the network silently drops must not hold up the other ways for long.
constexpr std::chrono::milliseconds kConnectLimit{3000};
constexpr std::chrono::milliseconds kRedialDirect{200};
// The bytes of all rings of one process, and of the largest. A ring smaller than a message makes
// two processes take turns (2026-11: 128 KiB each way took 100 us with rings of that size, and 44
// with these).
constexpr std::size_t kAllRings = std::size_t{64} << 20, kLargestRing = std::size_t{512} << 10;

std::string unused_name() { return "shm:isthmus-" + std::to_string(random_session()); }

// UCX does not encrypt.
core::Net net_of(const core::Direct& link) {
  return link.shm || link.encrypt ? core::Net::Tcp : link.net;
}

}  // namespace

Direct::Direct(asio::io_context& io, const core::World& world, core::NodeId self,
               Credentials credentials, DirectUser& user)
    : io_(io),
      world_(world),
      self_(self),
      links_(world, self),
      credentials_(std::move(credentials)),
      user_(user) {}

void Direct::listen(const std::string& ports) {
  ListenerConfig config;
  config.self = self_;
  config.software = software();
  config.credentials = credentials_;
  config.accept_plain = std::any_of(world_.direct.begin(), world_.direct.end(),
                                    [](const core::Direct& link) { return !link.encrypt; });
  listener_ = std::make_unique<Listener>(io_, std::move(config), *this);
  bool tcp = false;
  for (const auto& [link, cluster] : links_.own()) {
    tcp = tcp || link->tcp;
    if (!link->shm || !shm_address_.empty()) continue;
    try {
      shm_address_ = listener_->listen(unused_name());
    } catch (const ListenError&) {
      shm_address_.clear();  // gateways carry what this door would have
    }
  }
  if (!tcp) return;
  std::string bound;
  try {
    bound = listener_->listen("tcp:[::]:" + (ports.empty() ? "0" : ports));
  } catch (const ListenError&) {
    if (ports.empty()) throw;
    return;
  }
  tcp_addresses_ = host_addresses(parse_address(bound).port);
}

Direct::PeerPtr Direct::peer(core::NodeId node) {
  PeerPtr& known = peers_[node];
  if (!known) known = std::make_shared<Peer>(*this, node);
  return known;
}

ConduitDriver* Direct::to(core::NodeId node) {
  if (!any()) return nullptr;
  const auto found = peers_.find(node);
  if (found == peers_.end() && links_.to(node) == nullptr) return nullptr;
  Peer& peer = found == peers_.end() ? *this->peer(node) : *found->second;
  if (peer.is_connected) {
    if (peer.has_ended) return nullptr;
    if (peer.streams < peer.held) count(peer);
    return peer.driver.get();
  }
  if (!std::exchange(peer.asked, true)) invite(peer, false);
  return nullptr;
}

// Tells the peer where this process listens, or, when the peer is to go first, that it should.
void Direct::invite(Peer& peer, bool unreachable) {
  if (has_failed(peer.node)) return;
  const bool tell = unreachable || self_ < peer.node;
  peer.invited = peer.invited || tell;
  user_.invite(peer.node, encode_invite({tell ? addresses_for(*links_.to(peer.node))
                                              : std::vector<std::string>{},
                                         unreachable}));
}

std::vector<std::string> Direct::addresses_for(const core::Direct& link) const {
  std::vector<std::string> addresses;
  if (link.shm && !shm_address_.empty()) addresses.push_back(shm_address_);
  if (link.tcp) addresses.insert(addresses.end(), tcp_addresses_.begin(), tcp_addresses_.end());
  return addresses;
}

void Direct::take_invite(core::NodeId from, const Invite& invite) {
  if (links_.to(from) == nullptr || closed_ || leaving_ || has_failed(from)) return;
  const PeerPtr known = peer(from);
  known->asked = true;
  if (known->is_connected) return;
  if (!invite.addresses.empty()) {
    if (std::exchange(known->dialled, true)) return;
    known->addresses = invite.addresses;
    const core::Direct& link = *links_.to(from);
    known->streams =
        link.shm || net_of(link) == core::Net::Ucx ? 1
        : link.streams > 0
            ? link.streams
            : core::streams_for(link.rate, link.rtt, static_cast<double>(tcp_window_ceiling()));
    for (int i = 0; i < known->streams; ++i) dial(known);
  } else if (!known->invited) {
    // A lower rank that says nothing of where it listens has found no port.
    this->invite(*known, self_ > from);
  }
}

// One port serves all links, so only who has said Hello can be held to their own link's encryption.
std::optional<std::string> objection(const core::Direct* link, const Listener::Newcomer& newcomer) {
  if (link == nullptr) return "is not linked directly, by the grid file";
  if (link->encrypt && newcomer.exposed) {
    return "serves only encrypted connections on this link; `encrypt` must be the same on both "
           "sides";
  }
  return {};
}

void Direct::accepted(Listener::Newcomer newcomer) {
  const core::Direct* const link = links_.to(newcomer.node);
  std::optional<std::string> reason = closed_ ? "has left the grid" : objection(link, newcomer);
  if (!reason && has_failed(newcomer.node)) {
    reason = "goes on without this cluster, which has failed";
  }
  const PeerPtr known = reason ? nullptr : peer(newcomer.node);
  if (known && known->driver && known->driver->closed()) reason = "has given up this conduit";
  if (reason) {
    refuse(newcomer.stream, self_, newcomer.node, *reason);
    return;
  }
  attach(known, std::move(newcomer.stream), newcomer.read);
}

bool Direct::Peer::frame(const core::InFrame& frame, std::uint16_t /*hops*/) {
  if (streams < held) direct.count(*this);
  if (frame.kind != core::FrameKind::Control) return direct.user_.frame(node, frame);
  direct.take_control(*this, frame);
  return true;
}

core::Landing Direct::Peer::place(const core::InFrame& beginning) {
  return direct.user_.place(node, beginning);
}

void Direct::Peer::progress() { direct.user_.progress(); }

void Direct::Peer::connected() {
  is_connected = true;
  if (const auto said = lending.connected(direct.lends_); !said.empty()) direct.say(*this, said);
}

void Direct::Peer::lost(const Loss& loss) {
  last_failure = loss.reason;
  if (direct.leaving_) return direct.look_again();
  if (streams > 0) direct.dial(direct.peer(node));
}

void Direct::Peer::dead(const std::string& /*reason*/) {
  if (direct.leaving_) return direct.look_again();
  if (!std::exchange(has_ended, true)) direct.user_.lost(driver->conduit());
}

void Direct::attach(const PeerPtr& peer, std::shared_ptr<Stream> stream,
                    std::span<const std::byte> read) {
  const core::Direct& link = *links_.to(peer->node);
  if (!peer->driver) {
    core::ConduitConfig settings;
    settings.self = self_;
    settings.peer = peer->node;
    settings.session = random_session();
    settings.software = software();
    // The gateways are another way, so no conduit waits for the link's whole patience. Memory is
    // never silent: a peer is stopped, or its end is known.
    const std::chrono::duration<double> patience(link.patience);
    settings.patience = std::chrono::duration_cast<core::Time>(
        link.shm ? patience : std::min(patience, std::chrono::duration<double>(kFailover)));
    settings.buffer = settings.window = core::limits_for(world_.first_size()).window;
    peer->driver = std::make_shared<ConduitDriver>(io_, std::move(settings),
                                                   ConduitDriver::For::Program, *peer);
    // The link works without a congestion control that its kernel refuses. `isthmus doctor` reports
    // it.
    if (!link.congestion.empty()) {
      static_cast<void>(peer->driver->set_congestion(link.congestion));
    }
    if (link.rate > 0 && !link.shm) {
      peer->driver->pace_by(pacer_to(world_.cluster_of_node(peer->node), link));
    }
  }
  if (stream->leg() == Stream::Leg::Memory) {
    peer->lending.met(shm::process_behind(stream->socket().native_handle()));
  }
  peer->by_ucx = stream->leg() == Stream::Leg::Ucx;
  peer->driver->attach(std::move(stream), read);
  hold_streams(*peer, link);
  if (!leaving_ || peer->driver->closed()) return;
  // It has come to stand while this process leaves: the other end is to hear so.
  peer->driver->conduit().bye();
  peer->driver->flush();
}

void Direct::take_control(Peer& peer, const core::InFrame& frame) {
  const auto heard = peer.lending.take(frame.body);
  if (heard.may_lend) user_.lends(peer.node);
  if (!heard.memory) return;
  user_.reads(peer.node, *heard.memory);
  say(peer, shm::Lending::reads());
}

// On its own: it may be the driver that has called.
void Direct::say(Peer& peer, std::span<const std::byte> control) {
  core::OutFrame frame;
  frame.kind = core::FrameKind::Control;
  frame.source = self_;
  frame.destination = peer.node;
  frame.payload = control;
  peer.driver->conduit().submit(frame);
  asio::post(io_, [driver = peer.driver] { driver->flush(); });
}

// All conduits of this process to a cluster go at one pace. Until its gateway has said what this
// process may have, it counts on all of its cluster: the answer is there within a message or two.
std::shared_ptr<Pacer> Direct::pacer_to(std::size_t cluster, const core::Direct& link) {
  auto& pacer = pacers_[cluster];
  if (pacer) return pacer;
  pacer = std::make_shared<Pacer>(io_);
  pacer->set_rate(paced(link.rate));
  const int sharing = world_.clusters[world_.cluster_of_node(self_)].size;
  if (sharing > 1) {
    const std::chrono::duration<double> round_trip(link.rtt);
    pacer->share_with(1.0 / sharing, std::chrono::duration_cast<core::Time>(round_trip),
                      [this, cluster](double part) { user_.share(cluster, part); });
  }
  return pacer;
}

void Direct::take_share(std::size_t cluster, double part) {
  const auto pacer = pacers_.find(cluster);
  if (pacer != pacers_.end() && part > 0) pacer->second->share(part);
}

// The caller of flushed() may go on.
void Direct::look_again() {
  asio::post(io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock(); self && !self->closed_) self->user_.progress();
  });
}

void Direct::dial(const PeerPtr& peer) {
  asio::co_spawn(io_, dialling(shared_from_this(), peer), asio::detached);
}

asio::awaitable<void> Direct::dialling(std::shared_ptr<Direct> self, PeerPtr peer) {
  ConnectOptions options;
  const core::Direct& link = *self->links_.to(peer->node);
  options.encrypt_remote = link.encrypt;
  options.limit = kConnectLimit;
  const auto sharing = static_cast<std::size_t>(std::max(self->links_.peers(true), 1));
  options.ring_bytes = std::min(kLargestRing, std::bit_floor(kAllRings / (2 * sharing)));
  options.net = net_of(link);
  options.self = self->self_;
  // Ends with success, with the conduit (its patience), or, before the first, with failure.
  while (!self->closed_ && !self->leaving_ && !self->has_failed(peer->node) &&
         !(peer->driver && peer->driver->closed())) {
    const bool small = peer->driver && peer->driver->wants_small_segments();
    options.segment = small ? FullPackets::kSmallSegment : 0;
    try {
      auto stream = co_await net::connect(peer->addresses, self->credentials_, options);
      if (!self->closed_ && !self->has_failed(peer->node)) {
        self->attach(peer, std::move(stream), {});
      }
      co_return;
    } catch (const std::exception& e) {
      peer->last_failure = e.what();
    }
    if (!peer->driver) {
      // Not this way round. Perhaps the other.
      peer->streams = 0;
      if (!peer->invited && !self->closed_) self->invite(*peer, true);
      co_return;
    }
    asio::steady_timer pause(self->io_, kRedialDirect);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

std::map<std::size_t, DirectCount> Direct::counts() const {
  std::map<std::size_t, DirectCount> all;
  for (const auto& [node, peer] : peers_) {
    if (!peer->driver) continue;
    const core::ConduitCounts& sent = peer->driver->conduit().counts();
    DirectCount& count = all[world_.cluster_of_node(node)];
    ++count.conduits;
    if (peer->by_ucx) ++count.ucx;
    count.messages += sent.messages;
    count.bytes += sent.bytes;
    count.wire_bytes += sent.wire_bytes;
    count.streams += peer->driver->streams();
    for (const auto& [stream, figures] : peer->driver->figures())
      count.repeated += figures.repeated;
  }
  return all;
}

bool Direct::lands(core::NodeId node) const {
  const auto found = peers_.find(node);
  return found != peers_.end() && found->second->driver && found->second->driver->lands();
}

void Direct::flush() {
  for (const auto& [node, peer] : peers_) {
    if (peer->driver) peer->driver->flush();
  }
}

void Direct::read_from(std::size_t cluster) {
  for (const auto& [node, peer] : peers_) {
    if (peer->driver && world_.cluster_of_node(node) == cluster) peer->driver->read_come();
  }
}

void Direct::forget(std::size_t cluster) {
  failed_.insert(cluster);
  for (const auto& [node, peer] : peers_) {
    if (world_.cluster_of_node(node) != cluster) continue;
    peer->has_ended = true;
    if (peer->driver) peer->driver->close();
  }
}

void Direct::fail(const std::string& why) {
  for (const auto& [node, peer] : peers_) {
    if (peer->driver) peer->driver->conduit().fail(why);
  }
  flush();
}

// ---- the end: when all frames have arrived; others do not wait for it --------------------------

void Direct::bye() {
  leaving_ = true;
  for (const auto& [node, peer] : peers_) {
    if (peer->driver) peer->driver->conduit().bye();
  }
}

bool Direct::flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [this](const auto& entry) {
    const Peer& peer = *entry.second;
    if (!peer.driver || peer.driver->closed() || peer.driver->conduit().flushed()) return true;
    // It has gone, and needs nothing more. A process of this host may go without a Bye: one whose
    // conduit came to stand while it left.
    const bool gone = peer.has_ended || (leaving_ && links_.to(peer.node)->shm);
    return gone && peer.driver->streams() == 0;
  });
}

bool Direct::arrived() const {
  return std::all_of(peers_.begin(), peers_.end(), [this](const auto& entry) {
    const Peer& peer = *entry.second;
    return !peer.driver || peer.has_ended || peer.driver->closed() || links_.to(peer.node)->shm ||
           peer.driver->conduit().flushed();
  });
}

void Direct::close() {
  closed_ = true;
  if (listener_) listener_->close();
  for (const auto& [node, peer] : peers_) {
    if (peer->driver) peer->driver->close();
  }
  for (const auto& [cluster, pacer] : pacers_) pacer->close();
}

}  // namespace isthmus::net
