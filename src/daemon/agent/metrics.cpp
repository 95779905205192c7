#include "daemon/agent/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <string_view>
#include <utility>

#include "daemon/launch/failure.hpp"
#include "net/address.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;

constexpr std::size_t kMostRequest = 8192;
constexpr int kMostClients = 16;
constexpr std::chrono::seconds kRequestPatience{5};

// A label's value, as the format wants it.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

struct Metric {
  const char* name;
  const char* type;
  const char* help;
  std::function<double(const LinkCount&)> value;
};

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all{
      {"isthmus_link_messages_total", "counter", "Messages of the program sent over the link.",
       [](const LinkCount& c) { return static_cast<double>(c.messages); }},
      {"isthmus_link_payload_bytes_total", "counter", "Bytes of the program sent over the link.",
       [](const LinkCount& c) { return static_cast<double>(c.bytes); }},
      {"isthmus_link_frames_total", "counter", "Frames sent over the link.",
       [](const LinkCount& c) { return static_cast<double>(c.frames); }},
      {"isthmus_link_wire_bytes_total", "counter",
       "Bytes given to the link's streams, with headers and repetitions.",
       [](const LinkCount& c) { return static_cast<double>(c.wire_bytes); }},
      {"isthmus_link_lost_bytes_total", "counter", "Bytes that TCP had to send again.",
       [](const LinkCount& c) { return static_cast<double>(c.repeated); }},
      {"isthmus_link_waiting_bytes", "gauge",
       "Bytes given to the link that its other end has not passed on yet.",
       [](const LinkCount& c) { return static_cast<double>(c.waiting); }},
      {"isthmus_link_streams", "gauge", "Open streams of the link.",
       [](const LinkCount& c) { return static_cast<double>(c.streams); }},
      {"isthmus_link_rtt_seconds", "gauge", "Round trip, smoothed, of the slowest stream.",
       [](const LinkCount& c) { return static_cast<double>(c.rtt.count()) * 1e-6; }},
      {"isthmus_link_min_rtt_seconds", "gauge", "The shortest round trip seen.",
       [](const LinkCount& c) { return static_cast<double>(c.min_rtt.count()) * 1e-6; }},
      {"isthmus_link_best_rate_bytes_per_second", "gauge",
       "Bytes per second acknowledged, best 100 ms.",
       [](const LinkCount& c) { return c.best_rate; }},
      {"isthmus_link_silence_seconds", "gauge", "How long a silent link has not been heard; or 0.",
       [](const LinkCount& c) { return static_cast<double>(c.silence.count()) * 1e-3; }},
  };
  return all;
}

struct Total {
  const char* key;  // in docs/control.md's `stats`
  const char* name;
  const char* help;
};
constexpr Total kTotals[] = {
    {"messages", "messages_total", "Messages of the program"},
    {"bytes", "payload_bytes_total", "Bytes of the program"},
    {"wire_bytes", "wire_bytes_total", "Bytes with headers and repetitions"},
};

// Shows traffic that takes no link, by the indices of two clusters in `counts`. Entries with the
// same two clusters add up.
std::string totals_text(const std::string& kind, const std::string& how, const std::string& run,
                        const core::World& world, const nlohmann::json& counts) {
  std::string text;
  const auto name_of = [&](const nlohmann::json& index) {
    const auto at = index.get<std::size_t>();
    return at < world.clusters.size() ? world.clusters[at].name : fmt::format("cluster {}", at);
  };
  for (const Total& total : kTotals) {
    const std::string name = fmt::format("isthmus_{}_{}", kind, total.name);
    text += fmt::format("# HELP {} {} sent {}.\n# TYPE {} counter\n", name, total.help, how, name);
    std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
    for (const auto& count : counts) {
      sums[{name_of(count.at("from")), name_of(count.at("to"))}] +=
          count.at(total.key).get<std::uint64_t>();
    }
    for (const auto& [ends, sum] : sums) {
      text += fmt::format("{}{{run=\"{}\",from=\"{}\",to=\"{}\"}} {}\n", name, quoted(run),
                          quoted(ends.first), quoted(ends.second), sum);
    }
  }
  return text;
}

}  // namespace

std::string metrics_text(const std::string& job, const core::World& world,
                         const std::vector<LinkCount>& counts,
                         const std::map<std::string, int>& joined,
                         const nlohmann::json& crossings) {
  std::string text = fmt::format(
      "# HELP isthmus_build_info The version of Isthmus, as a label.\n"
      "# TYPE isthmus_build_info gauge\nisthmus_build_info{{version=\"{}\"}} 1\n",
      ISTHMUS_VERSION);
  for (const Metric& metric : metrics()) {
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", metric.name, metric.help, metric.name,
                        metric.type);
    for (const LinkCount& count : counts) {
      text += fmt::format("{}{{run=\"{}\",from=\"{}\",to=\"{}\"}} {}\n", metric.name, quoted(job),
                          quoted(world.label_of(count.from)), quoted(world.label_of(count.to)),
                          metric.value(count));
    }
  }
  const auto of_clusters = [&](const char* name, const char* help, const auto& ranks) {
    text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    for (const auto& cluster : world.clusters) {
      if (!joined.contains(cluster.name)) continue;  // the agent of that cluster tells it
      text += fmt::format("{}{{run=\"{}\",cluster=\"{}\"}} {}\n", name, quoted(job),
                          quoted(cluster.name), ranks(cluster));
    }
  };
  of_clusters("isthmus_ranks", "Ranks of the cluster.",
              [](const auto& cluster) { return cluster.size; });
  of_clusters("isthmus_ranks_joined", "Ranks that have called MPI_Init, as gateways here know.",
              [&](const auto& cluster) { return joined.at(cluster.name); });
  text +=
      totals_text("crossing", "by a gateway that stands in both clusters", job, world, crossings);
  return text;
}

struct MetricsServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, std::function<std::string()> source)
      : acceptor(io), text(std::move(source)) {}

  static asio::awaitable<void> serve(std::shared_ptr<State> self) {
    while (self->acceptor.is_open()) {
      std::error_code error;
      tcp::socket socket =
          co_await self->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error) {  // such as too many open files: a little later
        asio::steady_timer pause(self->acceptor.get_executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
        continue;
      }
      if (self->clients >= kMostClients) continue;  // closes it
      ++self->clients;
      asio::co_spawn(self->acceptor.get_executor(), answer(self, std::move(socket)),
                     [self](const std::exception_ptr&) { --self->clients; });
    }
  }

  static asio::awaitable<void> answer(std::shared_ptr<State> self, tcp::socket socket) {
    asio::steady_timer patience(socket.get_executor(), kRequestPatience);
    patience.async_wait([&socket](const std::error_code& error) {
      std::error_code ignored;
      if (!error) socket.close(ignored);
    });
    std::string request;
    co_await asio::async_read_until(socket, asio::dynamic_buffer(request, kMostRequest), "\r\n\r\n",
                                    asio::use_awaitable);
    const bool head = request.starts_with("HEAD ");
    const std::string_view path = std::string_view(request).substr(head ? 5 : 4);
    const bool known = path.starts_with("/metrics ") || path.starts_with("/ ");
    const bool ours = known && (head || request.starts_with("GET "));
    const std::string body = ours ? self->text() : "Only GET /metrics is served here.\n";
    const std::string reply = fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
        ours ? "200 OK" : "404 Not Found", body.size(), head ? "" : body);
    co_await asio::async_write(socket, asio::buffer(reply), asio::use_awaitable);
    patience.cancel();
  }

  tcp::acceptor acceptor;
  std::function<std::string()> text;
  int clients = 0;
};

MetricsServer::MetricsServer(asio::io_context& io, const std::string& address,
                             std::function<std::string()> text)
    : state_(std::make_shared<State>(io, std::move(text))) {
  try {
    const net::Address wanted = net::parse_address(address);
    tcp::resolver resolver(io);
    const tcp::endpoint endpoint =
        *resolver.resolve(wanted.host, std::to_string(wanted.port), tcp::resolver::passive).begin();
    state_->acceptor.open(endpoint.protocol());
    state_->acceptor.set_option(asio::socket_base::reuse_address(true));
    state_->acceptor.bind(endpoint);
    state_->acceptor.listen();
  } catch (const std::exception& error) {
    throw Failure("The metrics cannot be served at " + address + ": " + error.what(),
                  "Give --metrics another port.");
  }
  asio::co_spawn(io, State::serve(state_), asio::detached);
}

MetricsServer::~MetricsServer() {
  std::error_code ignored;
  state_->acceptor.close(ignored);
}

std::string MetricsServer::address() const {
  const auto endpoint = state_->acceptor.local_endpoint();
  return net::to_string({false, {}, endpoint.address().to_string(), endpoint.port()});
}

}  // namespace isthmus::daemon
