#include "core/base/debug_off.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace isthmus::core {
namespace {

constexpr auto kCount = static_cast<std::size_t>(Mechanism::kCount);
constexpr std::array<std::string_view, kCount> kNames{
    "after-pause",       "avoid-late",   "borrowing",      "bulk-streams",  "commons",
    "core-sharing",      "crowd",        "express",        "gateway-looks", "gathering",
    "held-streams",      "landing",      "late-frames",    "lending",       "looks-near",
    "looks-on-one-host", "native-yield", "pacing",         "several-looks", "share-unsent",
    "short-slices",      "socket-looks", "streaming-naps", "turns",         "word-differences"};

Mechanisms read() {
  const char* const text = std::getenv("ISTHMUS_DEBUG_OFF");
  try {
    return parse_mechanisms(text == nullptr ? "" : text);
  } catch (const std::invalid_argument& wrong) {
    std::fprintf(stderr, "isthmus: ISTHMUS_DEBUG_OFF: %s\n", wrong.what());
    std::_Exit(2);
  }
}

}  // namespace

Mechanisms parse_mechanisms(std::string_view names) {
  Mechanisms disabled;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    const auto* const found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      throw std::invalid_argument("no mechanism has the name '" + std::string(name) + "'");
    }
    disabled.set(static_cast<std::size_t>(found - kNames.begin()));
  }
  return disabled;
}

bool off(Mechanism mechanism) {
  static const Mechanisms disabled = read();
  return disabled[static_cast<std::size_t>(mechanism)];
}

}  // namespace isthmus::core
