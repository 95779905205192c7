#include "net/door/report.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>

#include "net/conduit/conduit_driver.hpp"
#include "net/control/control_body.hpp"
#include "net/door/connect.hpp"
#include "net/host/software.hpp"
#include "net/stream/handshake.hpp"

namespace isthmus::net {
namespace {

// A gateway that will not listen, or closes, is that of a job which is ending.
struct Report final : ConduitUser {
  asio::io_context io;
  core::NodeId self = core::kNobody;
  core::NodeId gateway = core::kNobody;
  std::vector<std::byte> body;
  std::shared_ptr<ConduitDriver> driver;
  std::string trouble = "it does not answer";

  void end(const std::string& why) {
    trouble = why;
    io.stop();
  }
  void attach(std::shared_ptr<Stream> stream) {
    core::ConduitConfig settings;
    settings.self = self;
    settings.peer = gateway;
    settings.session = random_session();
    settings.software = software();
    driver =
        std::make_shared<ConduitDriver>(io, std::move(settings), ConduitDriver::For::Report, *this);
    driver->attach(std::move(stream));
  }
  bool frame(const core::InFrame& /*frame*/, std::uint16_t /*hops*/) override { return true; }
  void progress() override {
    if (said && driver->conduit().flushed()) end({});
  }
  void lost(const Loss& /*loss*/) override { end({}); }
  void ended() override { end({}); }
  void dead(const std::string& /*reason*/) override { end({}); }
  void connected() override {
    core::OutFrame frame;
    frame.kind = core::FrameKind::Control;
    frame.source = self;
    frame.destination = gateway;
    frame.payload = body;
    driver->conduit().submit(frame);
    driver->flush();
    said = true;
  }
  bool said = false;
};

}  // namespace

std::string report_fault(const core::World& world, int node, const Credentials& credentials,
                         const std::string& sentence, std::chrono::milliseconds limit) {
  const std::size_t mine = world.cluster_of(node);
  std::string trouble = "cluster \"" + world.clusters[mine].name + "\" has no gateway";
  for (const core::Gateway& gateway : world.gateways) {
    if (!gateway.serves(mine)) continue;
    Report report;
    report.self = static_cast<core::NodeId>(node);
    report.gateway = gateway.node;
    report.body = encode_control(control::Fault{1, sentence});
    asio::co_spawn(
        report.io,
        [](Report* self, std::vector<std::string> addresses,
           Credentials own) -> asio::awaitable<void> {
          try {
            const ConnectOptions options;
            self->attach(co_await connect(std::move(addresses), std::move(own), options));
          } catch (const Refusal&) {
            self->end({});
          } catch (const std::exception& error) {
            self->end(error.what());
          }
        }(&report, gateway.addresses, credentials),
        asio::detached);
    report.io.run_for(limit);
    if (report.driver) report.driver->close();
    trouble = report.trouble;
    if (trouble.empty()) break;
  }
  return trouble;
}

}  // namespace isthmus::net
