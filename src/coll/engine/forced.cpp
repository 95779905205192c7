#include "coll/engine/forced.hpp"

#include <charconv>
#include <limits>
#include <string>

#include "coll/engine/text.hpp"

namespace isthmus::coll {
namespace {

Kind kind_named(std::string_view name) {
  std::string known;
  for (int k = 0; k < kKinds; ++k) {
    const auto kind = static_cast<Kind>(k);
    if (name_of(kind) == name) return kind;
    known += (k == 0 ? "" : ", ") + std::string(name_of(kind));
  }
  refuse(quoted(name) + " is not a collective: name one of " + known);
}

/// A positive number, with K, M or G (powers of 1024) if `scaled`.
std::size_t number(std::string_view key, std::string_view text, bool scaled) {
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr,
                              static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  int shift = 0;
  bool good = parsed.ec == std::errc() && value > 0;
  if (scaled && unit.size() == 1) {
    const std::size_t place = std::string_view("kKmMgG").find(unit.front());
    good = good && place != std::string_view::npos;
    shift = 10 * (static_cast<int>(place / 2) + 1);
  } else {
    good = good && unit.empty();
  }
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (!good || value > (kMost >> shift)) {
    refuse(std::string(key) + " is " + quoted(text) +
           (scaled ? ": give bytes, as in 16384, 16K or 1M" : ": give a number from 1 on"));
  }
  return value << shift;
}

void set(Parameters& parameters, std::string_view option, const Algorithm& algorithm) {
  const std::string_view text = option;
  const std::string_view key = trimmed(next(option, '='));
  const std::string_view value = trimmed(option);
  const Heeds& heeds = algorithm.heeds;
  if (key == "segment" && heeds.segment) {
    parameters.segment = number(key, value, true);
  } else if (key == "senders" && heeds.senders) {
    parameters.senders = static_cast<int>(number(key, value, false));
  } else {
    std::string allowed = heeds.segment ? "segment" : "";
    if (heeds.senders) allowed += allowed.empty() ? "senders" : ", senders";
    refuse(quoted(text) + " cannot be set of " + std::string(name_of(algorithm.kind)) + "=" +
           std::string(algorithm.name) + ", which heeds " +
           (allowed.empty() ? "no parameters" : allowed));
  }
}

}  // namespace

Forced parse_forced(std::string_view text, const Forced& base) {
  Forced forced = base;
  while (!text.empty()) {
    std::string_view entry = trimmed(next(text, ','));
    if (entry.empty()) continue;
    if (entry.find('=') == std::string_view::npos) {
      refuse(quoted(entry) + " names no algorithm: write COLLECTIVE=ALGORITHM, as in bcast=magpie");
    }
    const Kind kind = kind_named(trimmed(next(entry, '=')));
    const std::string_view name = trimmed(next(entry, ':'));
    Forced::Wish wish;
    if (name != "auto") {
      wish.algorithm = find_algorithm(kind, name);
      if (wish.algorithm == nullptr) {
        refuse(quoted(name) + " is not an algorithm of " + std::string(name_of(kind)) +
               ": name auto or one of " + names_of_algorithms(kind));
      }
    } else if (!entry.empty()) {
      refuse(quoted(entry) + " cannot be set of " + std::string(name_of(kind)) +
             "=auto: name an algorithm");
    }
    while (!entry.empty()) set(wish.parameters, trimmed(next(entry, ':')), *wish.algorithm);
    forced.wishes[static_cast<std::size_t>(kind)] = wish;
  }
  return forced;
}

}  // namespace isthmus::coll
