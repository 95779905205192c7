// Conduits to gateways of other runs (docs/joining.md). Each has credentials and numbers of its
// own, and carries routed frames alone. A run hears from the other only that it ends.
#pragma once

#include <asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/gateway/common.hpp"
#include "daemon/gateway/entrance.hpp"
#include "net/door/connect.hpp"

namespace isthmus::daemon {

/// On the gateway's thread. Calls GatewayUser::parted when a junction is lost.
class Junctions final : private PeerKind {
 public:
  using Done = std::function<void(const std::string& error)>;

  explicit Junctions(Common& gateway) : gateway_(gateway) {}

  /// As Gateway::join.
  std::vector<std::string> join(JunctionPlan plan, Done done);
  /// Another run is not there any more: ends its junctions.
  void part(const std::string& run);
  net::DoorCount turned_away() const;
  /// Lets nobody in any more.
  void close();

 private:
  struct Junction {
    JunctionPlan plan;
    Done done;  // until it stands
    Peer* peer = nullptr;
    std::unique_ptr<Entrance> entrance;  // null: this end connects
    std::string last_failure;
    bool by_service = false;  // the way that has led there last, and goes first

    void settle(const std::string& trouble);
  };

  void connected(Peer& peer) override;
  void lost(Peer& peer, const net::Loss& loss) override;
  void ended(Peer& peer) override;
  void dead(Peer& peer, const std::string& reason) override;

  std::vector<std::string> await(Junction& junction);
  void add_peer(Junction& junction);
  void welcome(const Junction& junction, net::Listener::Newcomer newcomer);
  void dial(Junction& junction);
  asio::awaitable<void> dialling(std::shared_ptr<Common> alive, Junction& junction);
  static asio::awaitable<std::shared_ptr<net::Stream>> reach(Junction& junction,
                                                             net::ConnectOptions options);
  bool over(const Junction& junction) const;
  void lose(const Junction& junction, const std::string& why);

  Common& gateway_;
  std::map<core::NodeId, Junction> junctions_;  // by the other end
};

}  // namespace isthmus::daemon
