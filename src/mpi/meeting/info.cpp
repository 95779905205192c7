#include "mpi/meeting/info.hpp"

#include <cstddef>
#include <cstdlib>

#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

std::optional<std::string> value_of(MPI_Info info, const char* key) {
  int length = 0;
  int found = 0;
  // MPI_Info_get_string is of MPI 4.0, and libraries of this ABI may be older.
  native.Info_get_valuelen(info, key, &length, &found);
  if (found == 0) return std::nullopt;
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  native.Info_get(info, key, length, value.data(), &found);
  value.resize(static_cast<std::size_t>(length));
  return value;
}

std::optional<double> timeout_of(MPI_Info info) {
  const auto said = info == MPI_INFO_NULL ? std::nullopt : value_of(info, "timeout");
  if (!said) return std::nullopt;
  char* end = nullptr;
  const double seconds = std::strtod(said->c_str(), &end);
  require(end != said->c_str() && *end == 0 && seconds >= 0 && seconds < 1e9, MPI_ERR_INFO,
          "the info key timeout says no number of seconds");
  return seconds;
}

}  // namespace isthmus::face
