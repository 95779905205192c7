#include "daemon/service/config.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <asio/ip/address.hpp>
#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>

#include "daemon/host/failure.hpp"
#include "net/host/address.hpp"

namespace isthmus::daemon {
namespace {

bool contains(const std::string& subnet, const asio::ip::address& address, std::error_code& error) {
  const bool has_size = subnet.find('/') != std::string::npos;
  if (subnet.find(':') != std::string::npos) {
    const auto network = asio::ip::make_network_v6(has_size ? subnet : subnet + "/128", error);
    if (error || !address.is_v6()) return false;
    const asio::ip::network_v6 one(address.to_v6(), 128);
    return one == network || one.is_subnet_of(network.canonical());
  }
  const auto network = asio::ip::make_network_v4(has_size ? subnet : subnet + "/32", error);
  if (error || !address.is_v4()) return false;
  const asio::ip::network_v4 one(address.to_v4(), 32);
  return one == network || one.is_subnet_of(network.canonical());
}

std::uint64_t quantity(const std::string& key, const std::string& text,
                       const std::map<std::string, double>& units, const std::string& example) {
  std::size_t end = 0;
  double number = -1;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  std::string unit = text.substr(end);
  unit.erase(std::remove(unit.begin(), unit.end(), ' '), unit.end());
  const auto found = units.find(unit);
  if (end == 0 || found == units.end() || !std::isfinite(number) || number < 0 ||
      number * found->second > 1e15) {
    throw Failure(key + " must be such as '" + example + "'; it is '" + text + "'");
  }
  return static_cast<std::uint64_t>(number * found->second);
}

std::string with_home(const std::string& path) {
  const char* const home = std::getenv("HOME");
  return path.starts_with("~/") && home != nullptr ? home + path.substr(1) : path;
}

// Editors on Windows put a byte order mark first.
class WithoutMark : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::istringstream rest(text.starts_with(mark) ? text.substr(mark.size()) : std::move(text));
    return CLI::ConfigTOML::from_config(rest);
  }
};

void check(const ServiceConfig& config) {
  for (const std::string& address : config.listen) {
    if (net::parse_address(address).is_unix) throw Failure("listen must be 'HOST:PORT'");
  }
  for (const std::string& subnet : config.allow) {
    std::error_code error;
    (void)contains(subnet, asio::ip::address(), error);
    if (error) {
      throw Failure("allow has '" + subnet + "', which is not an address or a subnet",
                    "Write it as in allow = [\"192.0.2.0/24\", \"2001:db8::/32\"].");
    }
  }
  if (config.keys.empty()) {
    throw Failure("keys is missing: the folder of the users' keys",
                  "Write it as in keys = \"/etc/isthmus/keys\"; `isthmusd key add` makes it.");
  }
  if (config.limits.connections < 1 || config.limits.jobs < 1 || config.drain < 0) {
    throw Failure("jobs and connections must be at least 1, and drain 0");
  }
}

}  // namespace

std::uint64_t parse_rate(const std::string& key, const std::string& text) {
  return quantity(key, text,
                  {{"bit/s", 0.125},
                   {"kbit/s", 125},
                   {"Mbit/s", 125e3},
                   {"Gbit/s", 125e6},
                   {"B/s", 1},
                   {"kB/s", 1e3},
                   {"MB/s", 1e6},
                   {"GB/s", 1e9}},
                  "1 Gbit/s");
}

std::uint64_t parse_size(const std::string& key, const std::string& text) {
  constexpr double kibi = 1024;
  return quantity(key, text,
                  {{"B", 1},
                   {"kB", 1e3},
                   {"MB", 1e6},
                   {"GB", 1e9},
                   {"KiB", kibi},
                   {"MiB", kibi * kibi},
                   {"GiB", kibi * kibi * kibi}},
                  "256 MiB");
}

bool ServiceConfig::allows(const std::string& text) const {
  std::error_code error;
  const auto address = asio::ip::make_address(text, error);
  return allow.empty() ||
         (!error && std::any_of(allow.begin(), allow.end(), [&address](const auto& subnet) {
           std::error_code ignored;
           return contains(subnet, address, ignored);
         }));
}

ServiceConfig read_service_config(const std::string& file) {
  ServiceConfig config;
  std::string rate, memory;
  std::vector<std::string> listen;
  CLI::App keys{"the keys of a service's file"};
  keys.config_formatter(std::make_shared<WithoutMark>());
  keys.set_config("--config", "", "", true);
  keys.allow_config_extras(CLI::config_extras_mode::error);
  keys.add_option("--listen", listen);
  keys.add_option("--keys", config.keys);
  keys.add_option("--allow", config.allow);
  keys.add_option("--audit", config.audit);
  keys.add_option("--metrics", config.metrics);
  keys.add_option("--drain", config.drain);
  keys.add_option("--jobs", config.limits.jobs);
  keys.add_option("--connections", config.limits.connections);
  keys.add_option("--rate", rate);
  keys.add_option("--memory", memory);
  try {
    keys.parse(std::vector<std::string>{file, "--config"});  // CLI11 wants them from the last on
    if (!listen.empty()) config.listen = listen;
    for (std::string& address : config.listen) {
      if (!address.starts_with("tcp:")) address = "tcp:" + address;
    }
    if (!config.metrics.empty() && !config.metrics.starts_with("tcp:")) {
      config.metrics = "tcp:" + config.metrics;
    }
    if (!rate.empty()) config.limits.rate = parse_rate("rate", rate);
    if (!memory.empty()) config.limits.memory = parse_size("memory", memory);
    config.keys = with_home(config.keys);
    config.audit = with_home(config.audit);
    check(config);
  } catch (const CLI::Error& error) {
    throw Failure(file + ": " + error.what(), "isthmusd(8) lists the keys of this file.");
  } catch (const Failure& failure) {
    throw Failure(file + ": " + failure.what(), failure.remedy());
  } catch (const std::invalid_argument& error) {
    throw Failure(file + ": listen: " + error.what());
  }
  return config;
}

}  // namespace isthmus::daemon
