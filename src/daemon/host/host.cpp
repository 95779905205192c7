#include "daemon/host/host.hpp"

#include <pwd.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace isthmus::daemon {

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string user_name() {
  const passwd* entry = getpwuid(getuid());
  return entry != nullptr ? entry->pw_name : std::to_string(getuid());
}

std::string memory_place() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(boot, id);
  std::error_code error;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", error);
  // Processors that one kernel emulates may order bytes otherwise.
  const std::string order = std::endian::native == std::endian::little ? "" : " big-endian";
  return id.empty() || error ? "" : id + " " + network.string() + order;
}

nlohmann::json machine() {
  utsname system{};
  uname(&system);
  return {
      {"arch", system.machine},
      {"byteorder", std::endian::native == std::endian::little ? "little" : "big"},
      {"long", sizeof(long)},
      {"long_double", std::to_string(LDBL_MANT_DIG) + "/" + std::to_string(sizeof(long double))}};
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

bool shares_cores_by_session(const std::string& root) {
  std::ifstream setting(root + "/proc/sys/kernel/sched_autogroup_enabled");
  if (int on = 0; !(setting >> on) || on == 0) return false;
  std::ifstream unified(root + "/sys/fs/cgroup/cgroup.subtree_control");
  const bool controlled =
      std::count(std::istream_iterator<std::string>(unified), {}, std::string("cpu")) > 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line.substr(second + 1) == "/") continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",," ? controlled : controllers.find(",cpu,") != std::string::npos) {
      return false;
    }
  }
  return true;
}

bool inside_allocation() {
  for (const char* name :
       {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PE_HOSTFILE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace isthmus::daemon
