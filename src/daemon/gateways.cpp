#include "daemon/gateways.hpp"

#include "daemon/failure.hpp"

namespace isthmus::daemon {

struct Gateways::State {};

Gateways::Gateways(const ConfigureRequest& request, const std::string&, GatewayEvents) {
  if (!request.gateways.empty()) throw Failure("This isthmusd was built without gateways.");
}
Gateways::~Gateways() = default;
std::vector<Gateways::Listening> Gateways::listening() const { return {}; }
void Gateways::link(const LinkRequest&, std::function<void(const std::string&)> done) { done(""); }
nlohmann::json Gateways::stats() const { return nlohmann::json::array(); }

}  // namespace isthmus::daemon
