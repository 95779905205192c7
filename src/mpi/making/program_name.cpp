#include "mpi/making/program_name.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include "mpi/native/native.hpp"

namespace isthmus::face {

void name_the_program() {
  std::array<char, MPI_MAX_INFO_VAL + 1> given{};
  int there = 0;
  native.Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL, given.data(), &there);
  const std::string_view path = given.data();
  if (path.substr(path.rfind('/') + 1) != "isthmusd") return;  // npos + 1 is 0
  const char* const command = std::getenv("OMPI_COMMAND");
  const char* const arguments = std::getenv("OMPI_ARGV");
  if (command == nullptr) return;
  native.Info_set(MPI_INFO_ENV, "command", command);
  native.Info_set(MPI_INFO_ENV, "argv", arguments == nullptr ? command : arguments);
}

}  // namespace isthmus::face
