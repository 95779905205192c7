#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <iostream>

#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"
#include "daemon/service/config.hpp"
#include "daemon/service/keys.hpp"
#include "daemon/service/serve.hpp"

namespace isthmus::daemon {
namespace {

int told(const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const Failure& failure) {
    std::cerr << "isthmusd key: " << failure.what() << '\n';
    if (!failure.remedy().empty()) std::cerr << "  " << failure.remedy() << '\n';
    return 1;
  }
}

void write_out(const std::string& out, const std::string& text) {
  const FileDescriptor file(::open(out.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw Failure("the file " + out + " cannot be written: " + std::strerror(errno));
  }
}

KeyLimits limits_of(const KeyLimitWords& words) {
  if (words.connections < 0) throw Failure("--connections must be at least 1");
  KeyLimits limits{.connections = words.connections};
  if (!words.rate.empty()) limits.rate = parse_rate("--rate", words.rate);
  if (!words.memory.empty()) limits.memory = parse_size("--memory", words.memory);
  return limits;
}

std::string text_of(const KeyLimits& limits) {
  std::string text;
  if (limits.connections > 0) text += fmt::format("  {} connections", limits.connections);
  if (limits.rate > 0) text += fmt::format("  {} B/s", limits.rate);
  if (limits.memory > 0) text += fmt::format("  {} B of memory", limits.memory);
  return text;
}

}  // namespace

int add_service_key(const std::string& folder, const std::string& user, const std::string& out,
                    const KeyLimitWords& limits) {
  return told([&] {
    const KeyFolder keys(folder);
    const ServiceKey key = keys.add(user, limits_of(limits));
    try {
      if (!out.empty()) write_out(out, key_file(key));
    } catch (const Failure&) {
      keys.revoke(key.id);  // nobody has it
      throw;
    }
    if (out.empty()) std::cout << key_file(key) << std::flush;
    std::cerr << fmt::format("isthmusd key: user {} has the key {}{}\n", user, key.id,
                             out.empty() ? "" : " in " + out);
  });
}

int limit_service_key(const std::string& folder, const std::string& name,
                      const KeyLimitWords& words) {
  return told([&] {
    const KeyLimits limits = limits_of(words);
    for (const std::string& id : KeyFolder(folder).limit(name, limits)) {
      std::cout << id << (limits.any() ? text_of(limits) : "  no limits of its own") << '\n';
    }
  });
}

int list_service_keys(const std::string& folder) {
  return told([&] {
    const KeysRead all = KeyFolder(folder).read();
    for (const ServiceKey& key : all.keys) {
      std::cout << fmt::format("{:<30} {:<20} made {}{}{}\n", key.id, key.user, key.made,
                               key.revoked.empty() ? "" : "  revoked " + key.revoked,
                               text_of(key.limits));
    }
    for (const std::string& why : all.wrong) std::cerr << "isthmusd key: " << why << '\n';
  });
}

int revoke_service_key(const std::string& folder, const std::string& name) {
  return told([&] {
    for (const std::string& id : KeyFolder(folder).revoke(name)) {
      std::cout << "revoked " << id << '\n';
    }
  });
}

}  // namespace isthmus::daemon
