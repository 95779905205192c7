#include "daemon/service/opening.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace isthmus::daemon {
namespace {

constexpr std::string_view kMark = "ISTHMUS\n";
constexpr std::size_t kMostName = 100;

OpeningRead wrong(const std::string& why) { return {OpeningRead::State::Wrong, {}, why}; }

}  // namespace

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kMostName && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

OpeningRead read_opening(std::span<const unsigned char> bytes) {
  const std::size_t known = std::min(bytes.size(), kMark.size());
  for (std::size_t i = 0; i < known; ++i) {
    if (bytes[i] != static_cast<unsigned char>(kMark[i])) return wrong("is not of Isthmus");
  }
  if (bytes.size() < kMark.size() + 2) return {};
  if (bytes[kMark.size()] != 1) return wrong("is of another version of the handshake");
  const std::size_t size = bytes[kMark.size() + 1];
  if (bytes.size() < kMark.size() + 2 + size) return {};
  const auto from = bytes.begin() + kMark.size() + 2;
  const std::string name(from, from + static_cast<std::ptrdiff_t>(size));
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return wrong("names no key: it is for a gateway of a job");
  Opening opening{name.substr(0, slash), name.substr(slash + 1)};
  if (!is_name(opening.key) || !is_name(opening.job)) return wrong("names no key and job");
  return {OpeningRead::State::Whole, std::move(opening), {}};
}

}  // namespace isthmus::daemon
