#include "daemon/environment.hpp"

#include <unistd.h>

#include <string_view>

namespace isthmus::daemon {

Environment Environment::inherited() {
  Environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    result.set(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return result;
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
