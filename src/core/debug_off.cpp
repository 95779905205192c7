#include "core/debug_off.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace isthmus::core {
namespace {

constexpr auto kCount = static_cast<std::size_t>(Mechanism::kCount);
constexpr std::array<std::string_view, kCount> kNames{
    "after-pause",     "avoid-late",   "borrowing",         "bulk-streams",   "commons",
    "core-sharing",    "crowd",        "express",           "few-first",      "flush-soon",
    "gateway-looks",   "gathering",    "held-streams",      "landing",        "late-frames",
    "lending",         "looks-near",   "looks-on-one-host", "native-yield",   "pacing",
    "several-looks",   "share-unsent", "socket-looks",      "streaming-naps", "turns",
    "word-differences"};

std::bitset<kCount> read() {
  std::bitset<kCount> disabled;
  const char* const text = std::getenv("ISTHMUS_DEBUG_OFF");
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    const auto* const found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      std::fprintf(stderr, "isthmus: ISTHMUS_DEBUG_OFF: no mechanism has the name '%.*s'\n",
                   static_cast<int>(name.size()), name.data());
      std::_Exit(2);
    }
    disabled.set(static_cast<std::size_t>(found - kNames.begin()));
  }
  return disabled;
}

}  // namespace

bool off(Mechanism mechanism) {
  static const std::bitset<kCount> disabled = read();
  return disabled[static_cast<std::size_t>(mechanism)];
}

}  // namespace isthmus::core
