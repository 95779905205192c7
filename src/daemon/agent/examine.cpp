#include "daemon/agent/examine.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <ostream>

#include "core/wire/wire.hpp"
#include "daemon/host/build.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/mpi_library.hpp"
#include "net/ucx/leg.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

constexpr std::array kSettings{"net.ipv4.tcp_rmem",
                               "net.ipv4.tcp_wmem",
                               "net.core.rmem_max",
                               "net.core.wmem_max",
                               "net.ipv4.tcp_mtu_probing",
                               "net.ipv4.tcp_congestion_control",
                               "net.ipv4.tcp_sack",
                               "net.ipv4.tcp_available_congestion_control",
                               "net.ipv4.tcp_allowed_congestion_control",
                               "net.ipv4.tcp_timestamps",
                               "net.ipv4.tcp_window_scaling",
                               "net.ipv4.tcp_moderate_rcvbuf",
                               "net.ipv4.tcp_slow_start_after_idle"};

double seconds_of_day() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

int mtu_of(const std::string& name) {
  ifreq request{};
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
  const bool known = ioctl(fd, SIOCGIFMTU, &request) == 0;
  close(fd);
  return known ? request.ifr_mtu : 0;
}

std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* raw = nullptr;
  if (address.sa_family == AF_INET) raw = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.sa_family == AF_INET6) {
    raw = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  if (raw == nullptr || inet_ntop(address.sa_family, raw, text.data(), text.size()) == nullptr) {
    return "";
  }
  return text.data();
}

}  // namespace

json examine_mpi(const ExamineOptions& options, const std::string& self) {
  Site site;
  site.host = host_name();
  site.environment = Environment::inherited();
  try {
    const LaunchChoice here{read_mpi_choice(options.mpi, site), options.launch};
    const Launcher launcher = find_launcher(here, std::nullopt, site);
    json found{{"launcher", launcher.path}};
    if (const auto library = library_of_launcher(launcher, here.mpi)) {
      found["library"] = library->path;
      found["version"] = library_version(library->path, self, site);
      found["stub"] = find_stub(*library, find_libdir());
    }
    return found;
  } catch (const Failure& failure) {
    return {{"error", failure.what()}, {"remedy", failure.remedy()}};
  }
}

json examine_tcp(const std::string& root) {
  json found = json::object();
  for (const std::string name : kSettings) {
    std::string path = name;
    for (char& c : path) c = c == '.' ? '/' : c;
    std::ifstream file(root + "/" + path);
    if (std::string line; std::getline(file, line)) {
      for (char& c : line) c = c == '\t' ? ' ' : c;
      found[name] = line;
    }
  }
  return found;
}

json examine_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return json::array();
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::map<std::string, json> by_name;
  for (const ifaddrs* item = first; item != nullptr; item = item->ifa_next) {
    if (item->ifa_addr == nullptr || (item->ifa_flags & IFF_UP) == 0) continue;
    const std::string address = text_of(*item->ifa_addr);
    if (address.empty()) continue;
    json& entry = by_name[item->ifa_name];
    if (entry.is_null()) {
      entry = {{"name", item->ifa_name}, {"mtu", mtu_of(item->ifa_name)}, {"addresses", {}}};
      entry["addresses"] = json::array();
    }
    entry["addresses"].push_back(address);
  }
  json found = json::array();
  for (auto& [name, entry] : by_name) found.push_back(std::move(entry));
  return found;
}

int run_examine(const ExamineOptions& options, const std::string& self, std::istream& in,
                std::ostream& out) {
  utsname system{};
  uname(&system);
  out << json{{"version", ISTHMUS_VERSION},
              {"commit", commit()},
              {"wire", core::kProtocolVersion},
              {"host", host_name()},
              {"user", user_name()},
              {"kernel", system.release},
              {"machine", machine()},
              {"cores", usable_cores()},
              {"cores_by_session", shares_cores_by_session()},
              {"tcp", examine_tcp()},
              {"interfaces", examine_interfaces()},
              {"ucx", net::ucx::library_trouble()},
              {"mpi", examine_mpi(options, self)}}
             .dump(-1, ' ', false, json::error_handler_t::replace)
      << std::endl;
  for (std::string line; std::getline(in, line);) {
    out << json{{"time", seconds_of_day()}}.dump() << std::endl;
  }
  return 0;
}

}  // namespace isthmus::daemon
