#include "daemon/gateway/common.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isthmus::daemon {

Common::Common(asio::io_context& context, GatewayConfig settings, GatewayUser& hears)
    : io(context),
      config(std::move(settings)),
      user(&hears),
      router({config.node, config.failover, config.survives}),
      peers(context, router, config.node, *this) {}

void Common::fault(const std::string& sentence, int code) {
  if (over()) return;
  fail(net::control::Fault{code, sentence}, sentence, core::kNobody);
  user->fault(sentence, code);
}

void Common::suspect(std::size_t cluster, const std::string& sentence) {
  if (!config.survives || !router.opened()) return fault(sentence);
  if (over() || router.forgotten_cluster(cluster) || !suspected_.insert(cluster).second) return;
  user->suspect(config.node, cluster, sentence);
}

std::string Common::name(core::NodeId node) const {
  if (router.world()) return router.world()->name_of(node);
  const bool mine = node == config.node || !core::is_gateway(node);
  if (!mine) return fmt::format("gateway {}", node - core::kFirstGateway);
  if (node == config.node) return fmt::format("the gateway of cluster \"{}\"", config.cluster);
  return fmt::format("rank {} (cluster \"{}\")", node, config.cluster);
}

const net::Service* Common::service_at(const std::string& at) const {
  const auto found = std::find_if(config.services.begin(), config.services.end(),
                                  [&at](const net::Service& service) { return service.at == at; });
  return found == config.services.end() ? nullptr : &*found;
}

}  // namespace isthmus::daemon
