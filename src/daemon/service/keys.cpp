#include "daemon/service/keys.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "core/base/any_json.hpp"
#include "core/base/hex.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"
#include "daemon/service/config.hpp"
#include "daemon/service/opening.hpp"
#include "net/host/credentials.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostOfFile = 4096;
constexpr const char* kEnding = ".json";

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string random_hex(std::size_t bytes) {
  const net::Digest nonce = net::random_nonce();
  return core::to_hex({reinterpret_cast<const char*>(nonce.data()), bytes});
}

json to_json(const KeyLimits& limits) {
  json said = json::object();
  if (limits.connections > 0) said["connections"] = limits.connections;
  if (limits.rate > 0) said["rate"] = fmt::format("{} B/s", limits.rate);
  if (limits.memory > 0) said["memory"] = fmt::format("{} B", limits.memory);
  return said;
}

/// Throws json::exception and Failure.
KeyLimits limits_from(const json& said) {
  KeyLimits limits;
  limits.connections = said.value("connections", 0);
  if (limits.connections < 0) throw Failure("connections must be at least 1");
  if (said.contains("rate")) limits.rate = parse_rate("rate", said["rate"]);
  if (said.contains("memory")) limits.memory = parse_size("memory", said["memory"]);
  return limits;
}

/// Throws Failure that names the file. `secret`: not one that others may read.
ServiceKey read_key(const fs::path& file, bool secret) {
  struct stat about {};
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!opened || ::fstat(opened.get(), &about) != 0) {
    throw Failure(
        fmt::format("the key {} cannot be read: {}", file.string(), std::strerror(errno)));
  }
  if (secret && (about.st_mode & 077) != 0) {
    throw Failure("the key " + file.string() + " may be read by others",
                  "chmod 600 " + file.string() + ", and make the user a new key.");
  }
  std::string text(kMostOfFile, '\0');
  const ssize_t size = ::read(opened.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  const Failure wrong("the file " + file.string() + " is not a key of a service",
                      "Remove it from the folder; `isthmusd key add` writes such files.");
  try {
    json said = json::parse(text);
    core::wipe(text);
    ServiceKey key{file.stem().string(),   said.at("user"),           {},
                   said.value("made", ""), said.value("revoked", ""), {}};
    auto bytes = core::from_hex(said.at("secret").get_ref<const std::string&>());
    core::wipe_secrets(said);
    if (!bytes || bytes->size() != 32 || !is_name(key.user) || !is_name(key.id)) throw wrong;
    key.secret = *std::move(bytes);
    try {
      key.limits = limits_from(said.value("limits", json::object()));
    } catch (const Failure& failure) {
      throw Failure(fmt::format("the limits of the key {}: {}", file.string(), failure.what()),
                    "`isthmusd key limit` writes them.");
    }
    return key;
  } catch (const json::exception&) {
    throw wrong;
  }
}

}  // namespace

std::vector<fs::path> KeyFolder::files() const {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == kEnding) found.push_back(at->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Failure(
        fmt::format("the folder of keys {} cannot be read: {}", folder_.string(), error.message()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

KeysRead KeyFolder::read() const {
  KeysRead all;
  for (const fs::path& file : files()) {
    try {
      all.keys.push_back(read_key(file, true));
    } catch (const Failure& failure) {
      const std::string& remedy = failure.remedy();
      all.wrong.push_back(failure.what() + (remedy.empty() ? "" : ": " + remedy));
    }
  }
  return all;
}

ServiceKey KeyFolder::add(const std::string& user, const KeyLimits& limits) const {
  if (!is_name(user) || user.size() > 60) {
    throw Failure("'" + user + "' is not a name for a user",
                  "Give 1 to 60 letters, digits, '_', '.' and '-'.");
  }
  std::error_code error;
  if (fs::create_directories(folder_, error); !error) {
    fs::permissions(folder_, fs::perms::owner_all, error);
  }
  if (error) {
    throw Failure(
        fmt::format("the folder of keys {} cannot be made: {}", folder_.string(), error.message()));
  }
  const net::Digest secret = net::random_nonce();
  ServiceKey key{user + "-" + random_hex(4),
                 user,
                 {reinterpret_cast<const char*>(secret.data()), secret.size()},
                 today(),
                 "",
                 limits};
  write(key, true);
  return key;
}

std::vector<std::string> KeyFolder::revoke(const std::string& name) const {
  return change(name, [](ServiceKey& key) { key.revoked = today(); });
}

std::vector<std::string> KeyFolder::limit(const std::string& name, const KeyLimits& limits) const {
  return change(name, [&limits](ServiceKey& key) { key.limits = limits; });
}

std::vector<std::string> KeyFolder::change(const std::string& name,
                                           const std::function<void(ServiceKey&)>& change) const {
  std::vector<std::string> done;
  bool known = false;
  for (const fs::path& file : files()) {
    ServiceKey key;
    try {
      key = read_key(file, false);
    } catch (const Failure&) {
      continue;
    }
    if (key.id != name && key.user != name) continue;
    known = true;
    if (!key.revoked.empty()) continue;
    change(key);
    write(key, false);
    done.push_back(key.id);
  }
  if (done.empty()) {
    throw Failure(
        known ? fmt::format("'{}' has no key that is not revoked already", name)
              : fmt::format("there is no key and no user '{}' in {}", name, folder_.string()),
        "`isthmusd key list` shows them.");
  }
  return done;
}

std::string KeyFolder::state() const {
  struct stat about {};
  if (::stat(folder_.c_str(), &about) != 0) return "";
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  // Two changes may have the same time of the file system: what is fresh may change unseen.
  const bool fresh = now.tv_sec - about.st_mtim.tv_sec < 2;
  return fmt::format("{}.{} {}", about.st_mtim.tv_sec, about.st_mtim.tv_nsec,
                     fresh ? fmt::format("{}.{}", now.tv_sec, now.tv_nsec) : "");
}

// Under another name first, so that nobody ever reads a half of it.
void KeyFolder::write(const ServiceKey& key, bool anew) const {
  const fs::path place = folder_ / (key.id + kEnding);
  const fs::path early = folder_ / (key.id + ".new");
  const std::string text = json{{"user", key.user},
                                {"secret", core::to_hex(key.secret)},
                                {"made", key.made},
                                {"revoked", key.revoked},
                                {"limits", to_json(key.limits)}}
                               .dump() +
                           "\n";
  ::unlink(early.c_str());  // as another that was killed has left it
  const FileDescriptor file(
      ::open(early.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool written =
      file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file.get()) == 0;
  const bool named = written && (!anew || ::access(place.c_str(), F_OK) != 0) &&
                     ::rename(early.c_str(), place.c_str()) == 0;
  if (!named) {
    const int error = errno;
    ::unlink(early.c_str());
    throw Failure(
        fmt::format("the key {} cannot be written: {}", place.string(), std::strerror(error)),
        "Make the folder writable for the user who adds and revokes keys.");
  }
}

std::string key_file(const ServiceKey& key) {
  return fmt::format(
      "# A key of user {} of an Isthmus service, made {}. Whoever has it is that user: chmod 600.\n"
      "id = \"{}\"\nsecret = \"{}\"\n",
      key.user, key.made, key.id, core::to_hex(key.secret));
}

}  // namespace isthmus::daemon
