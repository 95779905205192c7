#include "daemon/launch/elevation.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace isthmus::daemon {
namespace {

// Whether a program of the file would get capabilities: at once, or to take.
bool gives_capabilities(const std::string& path) {
  vfs_ns_cap_data data{};
  const ssize_t size = getxattr(path.c_str(), "security.capability", &data, sizeof data);
  if (size < static_cast<ssize_t>(XATTR_CAPS_SZ_1)) return false;
  if ((data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) != 0) return true;
  const bool wide = size >= static_cast<ssize_t>(XATTR_CAPS_SZ_2);
  return data.data[0].permitted != 0 || (wide && data.data[1].permitted != 0);
}

}  // namespace

std::optional<Elevated> elevated(const Elevation& elevation, const std::string& path) {
  if (elevation.nosuid) return std::nullopt;
  const mode_t mode = elevation.no_new_privileges ? 0 : elevation.mode;
  if ((mode & S_ISUID) != 0 && elevation.owner != elevation.user) {
    return Elevated{"is set-user-ID", "chmod u-s " + path};
  }
  // Without the group's right to execute, the bit means something else.
  const mode_t by_group = S_ISGID | S_IXGRP;
  if ((mode & by_group) == by_group && elevation.group != elevation.user_group) {
    return Elevated{"is set-group-ID", "chmod g-s " + path};
  }
  if (elevation.capabilities && elevation.user != 0) {
    return Elevated{"has file capabilities", "setcap -r " + path};
  }
  return std::nullopt;
}

std::optional<Elevated> elevated(const std::string& path) {
  struct stat about {};
  struct statvfs mount {};
  if (stat(path.c_str(), &about) != 0) return std::nullopt;
  Elevation of;
  of.mode = about.st_mode;
  of.owner = about.st_uid;
  of.group = about.st_gid;
  of.capabilities = gives_capabilities(path);
  of.nosuid = statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0;
  of.no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
  of.user = getuid();
  of.user_group = getgid();
  return elevated(of, path);
}

std::optional<Failure> why_not_in_grid(const std::string& path, const Site& site) {
  const std::string file = executed_file(path, site);
  const auto found = elevated(file);
  if (!found || !library_of_program(file, site)) return std::nullopt;
  return Failure(
      "'" + file + "' on " + site.host + " " + found->what +
          ", so the dynamic linker ignores LD_PRELOAD, by which Isthmus makes it part of "
          "a grid",
      "Run a copy of it without these rights (" + found->remedy + ").");
}

}  // namespace isthmus::daemon
