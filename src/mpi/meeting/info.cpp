#include "mpi/meeting/info.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {

std::optional<std::string> value_of(MPI_Info info, const char* key) {
  int length = 0;
  int found = 0;
#if MPI_VERSION >= 4
  char none = 0;  // MPICH wants a place also where nothing is to be written
  native.Info_get_string(info, key, &length, &none, &found);
  if (found == 0) return std::nullopt;
  std::string value(static_cast<std::size_t>(length), '\0');
  native.Info_get_string(info, key, &length, value.data(), &found);
  value.resize(static_cast<std::size_t>(std::max(0, length - 1)));
#else
  native.Info_get_valuelen(info, key, &length, &found);
  if (found == 0) return std::nullopt;
  std::string value(static_cast<std::size_t>(length) + 1, '\0');
  native.Info_get(info, key, length, value.data(), &found);
  value.resize(static_cast<std::size_t>(length));
#endif
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
