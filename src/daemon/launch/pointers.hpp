// Arguments and environments in the form that exec takes.
#pragma once

#include <string>
#include <vector>

namespace isthmus::daemon {

/// Borrows from `strings`, which must neither change nor go before the call of exec. Null ends it.
inline std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace isthmus::daemon
