#include "mpi/process/choices.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace isthmus::face {

void Choices::count(const coll::Problem& problem, const coll::Choice& choice) {
  Sum& sum = sums_[static_cast<std::size_t>(choice.algorithm - coll::algorithms().data())];
  ++sum.calls;
  sum.bytes += problem.bytes.value_or(0);
}

std::string Choices::table() const {
  const auto called = [](const Sum& sum) { return sum.calls > 0; };
  if (std::ranges::none_of(sums_, called)) return "";
  std::string text = "collective       algorithm        rank 0 calls            bytes\n";
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Sum& sum = sums_[i];
    if (!called(sum)) continue;
    const coll::Algorithm& algorithm = coll::algorithms()[i];
    std::array<char, 128> line{};
    std::snprintf(line.data(), line.size(), "%-16s %-18s %9zu %16zu\n",
                  std::string(name_of(algorithm.kind)).c_str(), std::string(algorithm.name).c_str(),
                  sum.calls, sum.bytes);
    text += line.data();
  }
  return text;
}

}  // namespace isthmus::face
