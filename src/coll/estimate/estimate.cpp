#include "coll/estimate/estimate.hpp"

#include <charconv>
#include <sstream>
#include <vector>

#include "coll/engine/choose.hpp"
#include "coll/engine/text.hpp"

namespace isthmus::coll {
namespace {

// More ranks than any grid has.
constexpr std::size_t kMostRanks = std::size_t{1} << 22;

Kind kind_of(std::string_view name) {
  for (int i = 0; i < kKinds; ++i) {
    if (name_of(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  refuse(quoted(name) + " is not a collective");
}

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) refuse(quoted(text) + " is not a number");
  return value;
}

std::vector<int> clusters_of(std::string_view text) {
  std::vector<int> all;
  while (!text.empty()) {
    std::string_view count = next(text, ',');
    const std::size_t cluster = number(next(count, 'x')), ranks = number(count);
    if (cluster >= kMostRanks || ranks > kMostRanks - all.size())
      refuse("there are too many ranks");
    all.insert(all.end(), ranks, static_cast<int>(cluster));
  }
  if (all.empty()) refuse("there are no ranks");
  return all;
}

}  // namespace

std::string estimate(std::string_view line) {
  const Kind kind = kind_of(next(line, ' '));
  const std::size_t bytes = number(next(line, ' '));
  const Layout layout(clusters_of(next(line, ' ')));
  const Network network = parse_network(trimmed(line), Network::of_one_host());
  const Setting setting{layout, network, {kind, bytes, true}};
  const Choice choice = choose(setting, {});
  std::ostringstream text;
  text.precision(6);
  text << choice.algorithm->name << ' ' << choice.algorithm->cost(setting, choice.parameters);
  return text.str();
}

int run_estimates(std::istream& in, std::ostream& out, std::ostream& err) {
  for (std::string line; std::getline(in, line);) {
    try {
      out << estimate(line) << '\n';
    } catch (const std::invalid_argument& wrong) {
      err << "isthmusd: " << line << ": " << wrong.what() << std::endl;
      return 2;
    }
  }
  return out.flush() ? 0 : 1;
}

}  // namespace isthmus::coll
