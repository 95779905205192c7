#include "mpi/process/choices.hpp"

#include <array>
#include <cstdio>

namespace isthmus::face {

void Choices::count(const coll::Problem& problem, const coll::Choice& choice) {
  Sum& sum = sums_[choice.algorithm];
  ++sum.calls;
  sum.bytes += problem.bytes.value_or(0);
}

std::string Choices::table() const {
  if (sums_.empty()) return "";
  std::string text = "collective       algorithm        rank 0 calls            bytes\n";
  for (const auto& [algorithm, sum] : sums_) {
    std::array<char, 128> line{};
    std::snprintf(line.data(), line.size(), "%-16s %-18s %9zu %16zu\n",
                  std::string(name_of(algorithm->kind)).c_str(),
                  std::string(algorithm->name).c_str(), sum.calls, sum.bytes);
    text += line.data();
  }
  return text;
}

}  // namespace isthmus::face
