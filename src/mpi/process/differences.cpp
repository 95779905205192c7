#include "mpi/process/differences.hpp"

namespace isthmus::face {
namespace {

Differences difference(const core::Cluster& a, const core::Cluster& b) {
  const core::Format first = core::format_of(a), second = core::format_of(b);
  if (first.order != second.order) return Differences::ByteOrder;
  const bool alike = first == second && !core::long_double_is_lost(a, b);
  return alike ? Differences::None : Differences::LongDouble;
}

}  // namespace

Differences meet_difference(const core::Cluster& a, const core::Cluster& b) {
  const Differences found = difference(a, b);
  Differences known = differences.load();
  while (known < found && !differences.compare_exchange_weak(known, found)) {
  }
  return found;
}

}  // namespace isthmus::face
