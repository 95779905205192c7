// Clusters, gateways and ranks in one process, over loopback. For tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <deque>
#include <filesystem>
#include <future>
#include <thread>

#include "daemon/gateway/awaited.hpp"
#include "daemon/gateway/gateway.hpp"
#include "daemon/gateway/gateway_message.hpp"
#include "daemon/gateway/heard.hpp"
#include "net/endpoint/endpoint.hpp"

namespace isthmus::daemon {

using namespace std::chrono_literals;

/// Why a rank could not join; "joined" if it could.
inline std::string failure_of_join(const net::EndpointConfig& config) {
  try {
    net::Endpoint::join(config, [](const std::string&, int) {});
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "joined";
}

struct BedOptions {
  std::vector<int> sizes{1, 1};  ///< ranks per cluster; clusters are linked in a chain
  std::vector<int> gateways{};   ///< per cluster; empty: one in each
  int bridges = 0;               ///< gateways after those, of all clusters
  bool relay = false;            ///< the clusters are linked with a last gateway, of none, instead
  bool encrypt = true;
  bool ranks_by_tcp = false;
  int streams = 1;
  std::chrono::milliseconds patience{10'000};
  std::chrono::milliseconds failover{10'000};
  std::size_t link_bytes = std::size_t{4} << 20;
  std::vector<core::Direct> direct{};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds handshake_timeout = net::kHandshakeLimit;
  std::size_t wrong_secret = SIZE_MAX;  // index of a gateway that has another secret
  std::string host = "127.0.0.1";       // where gateways listen
  bool survives = false;                // the run, a cluster's failure
  std::vector<std::size_t> plain{};     // clusters whose ranks and gateways do not encrypt
};

class Testbed {
 public:
  /// Runs `f` on the gateways' thread.
  template <class F>
  std::invoke_result_t<F> on_io(F f) {
    auto task = std::make_shared<std::packaged_task<std::invoke_result_t<F>()>>(std::move(f));
    auto future = task->get_future();
    asio::post(io_, [task] { (*task)(); });
    return future.get();
  }

  explicit Testbed(BedOptions options = {}) : options_(std::move(options)) {
    char name[] = "/tmp/isthmus-test-XXXXXX";
    folder_ = ::mkdtemp(name);
    thread_ = std::thread([this] { io_.run(); });
    core::World world;
    int first = 0;
    for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
      world.clusters.push_back({"c" + std::to_string(i), first, options_.sizes[i]});
      world.clusters.back().encrypt = !is_plain(i);
      first += options_.sizes[i];
    }
    world.direct = options_.direct;
    world_ = world;
    for (std::size_t c = 0; c < options_.sizes.size(); ++c) {
      const int count = options_.gateways.empty() ? 1 : options_.gateways[c];
      of_cluster_.emplace_back();
      for (int i = 0; i < count; ++i) {
        of_cluster_.back().push_back(cluster_.size());
        cluster_.push_back(c);
      }
    }
    first_bridge_ = cluster_.size();
    cluster_.resize(first_bridge_ + static_cast<std::size_t>(options_.bridges), 0);
    if (options_.relay) cluster_.push_back(0);
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      addresses_.push_back(on_io([&] { return make_gateway(i); }));
    }
  }

  ~Testbed() {
    for (auto& endpoint : endpoints_) endpoint.reset();
    on_io([&] { gateways_.clear(); });
    work_.reset();
    io_.stop();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  /// Links the gateways; returns their errors, joined.
  std::string link() {
    std::vector<std::unique_ptr<Awaited<std::string>>> done;
    for (std::size_t i = 0; i < gateways_.size(); ++i) done.push_back(link(i));
    std::string errors;
    for (auto& answer : done) errors += answer->get();
    return errors;
  }
  /// One of them; brings its error.
  std::unique_ptr<Awaited<std::string>> link(std::size_t i) {
    auto answer = std::make_unique<Awaited<std::string>>();
    on_io([&, result = answer.get()] {
      const std::size_t mine = cluster_[i];
      std::vector<GatewayLink> links;
      for (const std::size_t other :
           is_relay(i) ? std::vector<std::size_t>{} : linked(i, mine + 1)) {
        GatewayLink link;
        link.to = node(other);
        const auto instead = link_addresses_.find(other);
        link.addresses = {instead == link_addresses_.end() ? addresses_[other][0]
                                                           : instead->second};
        link.encrypt = options_.encrypt;
        link.streams = options_.streams;
        link.patience = link_patience_;
        links.push_back(link);
      }
      core::Routes next;
      for (std::size_t c = 0; c < of_cluster_.size(); ++c) {
        if (serves(i, c)) continue;
        for (const std::size_t other : linked(i, is_relay(i) ? c
                                                 : c > mine  ? mine + 1
                                                             : mine - 1)) {
          next[c].push_back(node(other));
        }
      }
      if (i < wrong_routes_.size()) next = wrong_routes_[i];
      gateways_[i]->link(world_of(mine), links, next,
                         [result](const std::string& error) { result->set(error); });
    });
    return answer;
  }

  net::EndpointConfig config(int rank) {
    net::EndpointConfig config;
    config.world = world_of(world_.cluster_of(rank));
    config.node = rank;
    config.job = "job";
    config.secret = "secret";
    config.survives = options_.survives;
    return config;
  }

  /// All ranks join, each on a thread of its own as the calls wait for each other.
  void join() {
    std::vector<std::future<std::unique_ptr<net::Endpoint>>> joins;
    for (int rank = 0; rank < world_.size(); ++rank) {
      faults_.push_back(std::make_unique<Awaited<std::string>>());
      joins.push_back(std::async(std::launch::async, [this, rank] {
        return net::Endpoint::join(config(rank), [this, rank](const std::string& s, int code) {
          faults_[static_cast<std::size_t>(rank)]->set(s + " [" + std::to_string(code) + "]");
        });
      }));
    }
    for (auto& join : joins) endpoints_.push_back(join.get());
  }

  /// Links the gateways, and all ranks join. Throws what keeps a gateway from it.
  void start() {
    const std::string errors = link();
    if (!errors.empty()) throw std::runtime_error("the gateways are not linked: " + errors);
    join();
  }

  /// For a rank that joins later; the next in order. Adopted, it is `rank(r)`.
  net::Endpoint::FaultHandler on_fault(int r) {
    while (faults_.size() <= static_cast<std::size_t>(r)) {
      faults_.push_back(std::make_unique<Awaited<std::string>>());
    }
    return [this, r](const std::string& s, int code) {
      faults_[static_cast<std::size_t>(r)]->set(s + " [" + std::to_string(code) + "]");
    };
  }
  void adopt(std::unique_ptr<net::Endpoint> endpoint) { endpoints_.push_back(std::move(endpoint)); }

  net::Endpoint& rank(int r) { return *endpoints_[static_cast<std::size_t>(r)]; }
  void kill(int r) { endpoints_[static_cast<std::size_t>(r)].reset(); }
  void leave_all() {
    std::vector<std::future<void>> leaves;
    for (auto& endpoint : endpoints_) {
      leaves.push_back(std::async(std::launch::async, [&] { endpoint->leave(); }));
    }
    for (auto& leave : leaves) leave.get();
  }
  /// All leave, and none has heard of a fault.
  void leave_well() {
    leave_all();
    for (int r = 0; r < world_.size(); ++r) EXPECT_FALSE(faulted(r)) << "rank " << r;
  }
  std::string fault(int r) { return faults_[static_cast<std::size_t>(r)]->get(); }
  bool faulted(int r) { return faults_[static_cast<std::size_t>(r)]->there(); }
  std::string gateway_fault(std::size_t i) { return heard_[i].faults.get(); }
  bool gateway_faulted(std::size_t i) { return heard_[i].faults.there(); }
  void destroy_gateway(std::size_t i) {
    on_io([&] { gateways_[i].reset(); });
  }
  /// Another takes the place of one that has died, where that listened.
  std::string gateway_comes_anew(std::size_t i) {
    on_io([&] { return make_gateway(i, true); });
    return link(i)->get();
  }
  /// On the testbed's thread.
  void gateway_dies(std::size_t i) { gateways_[i].reset(); }
  Gateway& gateway(std::size_t i) { return *gateways_[i]; }
  std::vector<LinkCount> counts(std::size_t i) {
    return on_io([&] { return gateways_[i] ? gateways_[i]->counts() : std::vector<LinkCount>{}; });
  }
  /// Returns what its processes have told by now, and asks them again.
  Gateway::Crossed crossed(std::size_t i) {
    return on_io([&] {
      gateways_[i]->ask_crossed();
      return gateways_[i]->crossed();
    });
  }
  Gateway::Crossed crossed_of_left(std::size_t i) {
    return on_io([&] { return gateways_[i]->crossed_of_left(); });
  }
  Awaited<std::string>& rejected(std::size_t i) { return heard_[i].rejections; }
  bool abandoned(std::size_t i) { return heard_[i].abandonment.get(); }
  bool warned(std::size_t i) { return heard_[i].warnings.there(); }
  std::string warning(std::size_t i) { return heard_[i].warnings.get(); }
  LinkSilence silence(std::size_t i) { return heard_[i].silences.get(); }
  LinkSilence silence_over(std::size_t i) { return heard_[i].silences_over.get(); }
  /// The sentence of gateway i's suspicion of a cluster.
  std::string suspicion(std::size_t i, std::size_t cluster) {
    return heard_[i].suspicions[cluster].get();
  }
  bool suspects(std::size_t i, std::size_t cluster) {
    return heard_[i].suspicions[cluster].there();
  }
  /// The first gateway of which gateway i hears that it agrees.
  core::NodeId agreement(std::size_t i) { return heard_[i].agreement.get(); }
  /// Sends while the gateways' thread is at rest. Returns when the message lies in a socket.
  void send_unread(int r, core::SendOp& op) {
    const int before = unread();
    rank(r).send(op);
    while (unread() == before) rank(r).wait_event(rank(r).events(), 1ms);
  }
  /// All gateways that are there hear that a cluster has failed.
  void tell_failed(std::size_t cluster) {
    on_io([&] {
      for (auto& gateway : gateways_) {
        if (gateway) gateway->failed(cluster, "cluster " + std::to_string(cluster) + " has failed");
      }
    });
  }
  const std::vector<std::string>& addresses(std::size_t i) const { return addresses_[i]; }
  const core::World& world() const { return world_; }
  asio::io_context& io() { return io_; }
  std::string folder() const { return folder_; }
  void route(std::vector<core::Routes> next) { wrong_routes_ = std::move(next); }
  /// Links to a gateway go to this address instead of its own.
  void link_to(std::string address, std::size_t target = 1) {
    link_addresses_[target] = std::move(address);
  }
  /// Ranks connect to a gateway at this address instead of its own.
  void ranks_to(std::string address, std::size_t target) {
    rank_addresses_[target] = std::move(address);
  }
  void link_patience(std::chrono::milliseconds patience) { link_patience_ = patience; }
  static core::NodeId node(std::size_t i) {
    return core::kFirstGateway + static_cast<core::NodeId>(i);
  }

  /// Sends from one rank to another and receives there.
  void exchange(int from, int to, std::size_t size, int tag = 1) {
    TestMessage message(from, to, size, tag);
    rank(to).recv(message.recv);
    rank(from).send(message.send);
    wait(from, message.send);
    wait(to, message.recv);
    ASSERT_TRUE(message.is_right()) << size << " bytes from " << from << " to " << to;
  }

  void wait(int r, core::Op& op) {
    const auto limit = std::chrono::steady_clock::now() + 90s;
    for (;;) {
      const auto seen = rank(r).events();
      if (op.done()) return;
      if (faulted(r)) FAIL() << "rank " << r << ": " << fault(r);
      if (std::chrono::steady_clock::now() > limit) {
        FAIL() << "rank " << r << " waited for 90 s";
      }
      rank(r).wait_event(seen, 100ms);
    }
  }

 private:
  std::vector<std::string> make_gateway(std::size_t i, bool anew = false) {
    if (gateways_.size() <= i) {
      gateways_.resize(i + 1);
      heard_.emplace_back(
          world_.clusters.size(),
          [this, i](core::NodeId process, std::uint64_t number, const std::string& reply) {
            gateways_[i]->answer(process, number, reply);
          });
    }
    GatewayConfig config;
    config.node = node(i);
    config.cluster = world_.clusters[cluster_[i]].name;
    config.job = "job";
    config.secret = i == options_.wrong_secret ? "wrong" : "secret";
    config.link_bytes = options_.link_bytes;
    config.patience = options_.patience;
    config.failover = options_.failover;
    config.connect_timeout = options_.connect_timeout;
    config.handshake_timeout = options_.handshake_timeout;
    config.anew = anew;
    config.survives = options_.survives;
    for (std::size_t c = 0; c < world_.clusters.size(); ++c) {
      config.accept_plain_ranks |= serves(i, c) && is_plain(c);
    }
    gateways_[i] = std::make_unique<Gateway>(io_, config, heard_[i]);
    if (anew) return gateways_[i]->listen(addresses_[i]);
    const std::string door = "unix:" + folder_ + "/g" + std::to_string(i);
    return gateways_[i]->listen({"tcp:" + options_.host + ":0", door});
  }

  // The gateways of the neighbouring cluster `there` that gateway `i` is linked with. The k-th of
  // one cluster is linked with the k-th of the other; the shorter list wraps around.
  std::vector<std::size_t> linked(std::size_t i, std::size_t there) const {
    if (options_.relay) {
      return is_relay(i) ? of_cluster_[there] : std::vector<std::size_t>{cluster_.size() - 1};
    }
    if (there >= of_cluster_.size() || i >= first_bridge_) return {};
    const auto& ours = of_cluster_[cluster_[i]];
    const auto& theirs = of_cluster_[there];
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < std::max(ours.size(), theirs.size()); ++k) {
      const std::size_t other = theirs[k % theirs.size()];
      if (ours[k % ours.size()] == i) found.push_back(other);
    }
    return found;
  }

  // The bytes that lie in all sockets of this process.
  static int unread() {
    int all = 0;
    for (int fd = 0; fd < ::getdtablesize() && fd < 1024; ++fd) {
      int bytes = 0;
      if (::ioctl(fd, FIONREAD, &bytes) == 0) all += bytes;
    }
    return all;
  }

  bool is_relay(std::size_t i) const { return options_.relay && i + 1 == cluster_.size(); }

  bool is_plain(std::size_t cluster) const {
    return std::find(options_.plain.begin(), options_.plain.end(), cluster) != options_.plain.end();
  }

  bool serves(std::size_t i, std::size_t cluster) const {
    return !is_relay(i) && (cluster_[i] == cluster || i >= first_bridge_);
  }

  core::World world_of(std::size_t cluster) {
    core::World world = world_;
    for (std::size_t i = 0; i < gateways_.size(); ++i) {
      core::Gateway gateway;
      gateway.node = node(i);
      for (std::size_t c = 0; c < world_.clusters.size(); ++c) {
        if (serves(i, c)) gateway.clusters.push_back(c);
      }
      if (serves(i, cluster)) gateway.addresses = {addresses_[i][options_.ranks_by_tcp ? 0 : 1]};
      const auto instead = rank_addresses_.find(i);
      if (serves(i, cluster) && instead != rank_addresses_.end()) {
        gateway.addresses = {instead->second};
      }
      world.gateways.push_back(gateway);
    }
    return world;
  }

  BedOptions options_;
  std::string folder_;
  std::map<std::size_t, std::string> link_addresses_;
  std::map<std::size_t, std::string> rank_addresses_;
  std::chrono::milliseconds link_patience_{};
  std::vector<core::Routes> wrong_routes_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  std::thread thread_;
  core::World world_;
  std::vector<std::size_t> cluster_;  // of each gateway
  std::size_t first_bridge_ = 0;
  std::vector<std::vector<std::size_t>> of_cluster_;  // gateways of each cluster
  std::vector<std::vector<std::string>> addresses_;
  std::deque<Heard> heard_;
  std::vector<std::unique_ptr<Gateway>> gateways_;
  std::vector<std::unique_ptr<net::Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Awaited<std::string>>> faults_;
};

}  // namespace isthmus::daemon
