#include "lab/tun.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace isthmus::lab {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::generic_category().message(errno));
}

FileDescriptor open_file(const std::string& path, int flags) {
  FileDescriptor file(open(path.c_str(), flags | O_CLOEXEC));
  if (!file) fail("cannot open " + path);
  return file;
}

void enter(const FileDescriptor& netns, const std::string& name) {
  if (setns(netns.get(), CLONE_NEWNET) != 0) fail("cannot enter the network namespace " + name);
}

FileDescriptor make(const std::string& name) {
  FileDescriptor device = open_file("/dev/net/tun", O_RDWR | O_NONBLOCK);
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name) {
    throw std::runtime_error("\"" + name + "\" is not a name of a network interface");
  }
  std::memcpy(request.ifr_name, name.c_str(), name.size());
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(device.get(), TUNSETIFF, &request) != 0) fail("cannot make the TUN device " + name);
  // IPv6 super-packets are left to the kernel to cut up: the box cuts IPv4 only.
  const unsigned offload = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO_ECN;
  if (ioctl(device.get(), TUNSETOFFLOAD, offload) != 0) {
    fail("the TUN device " + name + " cannot take segmentation offload");
  }
  return device;
}

}  // namespace

FileDescriptor open_tun(const std::string& netns, const std::string& name) {
  if (netns.empty()) return make(name);
  const FileDescriptor home = open_file("/proc/self/ns/net", O_RDONLY);
  enter(open_file(netns, O_RDONLY), netns);
  try {
    FileDescriptor device = make(name);
    enter(home, "of the WAN box");
    return device;
  } catch (...) {
    enter(home, "of the WAN box");
    throw;
  }
}

}  // namespace isthmus::lab
