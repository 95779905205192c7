#include "daemon/launch/environment.hpp"

#include <unistd.h>

#include <fstream>
#include <string_view>

#include "core/base/wipe.hpp"

namespace isthmus::daemon {

void Environment::add(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return;
  set(std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1)));
}

Environment Environment::inherited() {
  Environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) result.add(*entry);
  return result;
}

std::optional<Environment> Environment::of_process(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  if (!file) return std::nullopt;
  Environment result;
  for (std::string entry; std::getline(file, entry, '\0');) result.add(entry);
  return result;
}

void Environment::unset(const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end()) return;
  if (name == kSecretVariable) core::wipe(found->second);
  values_.erase(found);
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Environment::strings() const {
  std::vector<std::string> result;
  result.reserve(values_.size());
  for (const auto& [name, value] : values_) {
    std::string entry = name;
    entry += '=';
    entry += value;
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace isthmus::daemon
