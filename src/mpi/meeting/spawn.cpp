// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI-4.1 section 11.8). The launcher starts a further
// native job, whose processes join the grid as a part of their own. In MPI_Init they connect to the
// port at which their parents accept.
#include <algorithm>
#include <array>

#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/meeting/info.hpp"
#include "mpi/meeting/launcher.hpp"
#include "mpi/meeting/port.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/limits.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

using nlohmann::json;

/// The arguments of the root alone; MPI_Comm_spawn has one of each.
struct Commands {
  int count;
  char** commands;
  char*** argvs;  ///< may be null
  const int* numbers;
  const MPI_Info* infos;

  int processes() const {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += std::max(0, numbers[i]);
    return sum;
  }
};

/// The keys that the standard reserves for this, and Isthmus's own; others are for other libraries.
constexpr std::array kKeys{"cluster", "host", "wdir", "path", "env", "timeout", "file", "soft"};

json keys_of(MPI_Info info) {
  json keys = json::object();
  if (info == MPI_INFO_NULL) return keys;
  const Inside inside;
  for (const char* const key : kKeys) {
    if (const auto value = value_of(info, key)) keys[key] = *value;
  }
  return keys;
}

json request_of(const Commands& given) {
  require(given.count > 0, MPI_ERR_ARG, "there is no command");
  json commands = json::array();
  for (int i = 0; i < given.count; ++i) {
    require(given.commands[i] != nullptr, MPI_ERR_ARG, "the command is a null pointer");
    require(given.numbers[i] >= 0, MPI_ERR_ARG, "the number of processes is negative");
    json argv = json::array({given.commands[i]});
    char** const arguments = given.argvs == nullptr ? nullptr : given.argvs[i];
    for (char** each = arguments; each != nullptr && *each != nullptr; ++each)
      argv.push_back(*each);
    commands.push_back({{"argv", std::move(argv)},
                        {"n", given.numbers[i]},
                        {"universe", limits().universe_size},
                        {"info", keys_of(given.infos[i])}});
  }
  require(given.processes() > 0, MPI_ERR_SPAWN, "no process is asked for");
  return {{"do", "spawn"}, {"commands", std::move(commands)}};
}

/// Gives the others the root's number of processes: they have array_of_errcodes, too. If a member
/// has failed, they may get 0.
int spread_number(int number, int root, MPI_Comm comm) {
  const Withheld errors;
  int told = number;
  const int code = isthmus_Bcast(&told, 1, MPI_INT, root, comm);
  return code == MPI_SUCCESS ? told : number;
}

template <class Given>
int spawn(const char* function, const Given& given, int root, MPI_Comm comm, MPI_Comm* intercomm,
          int* errcodes) {
  int rank = 0;
  isthmus_Comm_rank(comm, &rank);
  return shielded(comm, function, [&] {
    if (const GridCommRef found = share_comm(comm)) require_intracomm(*found);
    const int asked = spread_number(rank == root ? given().processes() : 0, root, comm);
    const auto set_codes = [errcodes](int number, int code) {
      if (errcodes != MPI_ERRCODES_IGNORE) std::fill_n(errcodes, number, code);
    };
    set_codes(asked, MPI_ERR_SPAWN);  // until the processes are there
    const auto start = [&] { return PortCall{text_of(ask_launcher(request_of(given())), "port")}; };
    try {
      const int code = meet_at_port(At::Accept, start, root, comm, intercomm);
      int number = 0;
      if (code == MPI_SUCCESS) isthmus_Comm_remote_size(*intercomm, &number);
      set_codes(number, MPI_SUCCESS);
      return code;
    } catch (const MpiError&) {
      *intercomm = MPI_COMM_NULL;
      throw;
    }
  });
}

/// The native library judges what is wrong in itself.
bool of_library(MPI_Comm comm, int root, const MPI_Comm* intercomm) {
  if (native_call() || comm == MPI_COMM_NULL || intercomm == nullptr) return true;
  if (share_comm(comm)) return false;
  int inter = 0;
  int size = 0;
  return isthmus_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0 ||
         isthmus_Comm_size(comm, &size) != MPI_SUCCESS || root < 0 || root >= size;
}

}  // namespace

// coverage: in the root's cluster, or those that the info key `cluster` names
ISTHMUS_MPI(Comm_spawn)
(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
 MPI_Comm* intercomm, int array_of_errcodes[]) {
  if (of_library(comm, root, intercomm)) {
    return parked(native.Comm_spawn, command, argv, maxprocs, info, root, comm, intercomm,
                  array_of_errcodes);
  }
  char* name = const_cast<char*>(command);
  char** arguments = argv == MPI_ARGV_NULL ? nullptr : argv;
  const auto given = [&] { return Commands{1, &name, &arguments, &maxprocs, &info}; };
  return spawn("MPI_Comm_spawn", given, root, comm, intercomm, array_of_errcodes);
}

// coverage: as MPI_Comm_spawn; all commands are one MPI_COMM_WORLD
ISTHMUS_MPI(Comm_spawn_multiple)
(int count, char* array_of_commands[], char** array_of_argv[], const int array_of_maxprocs[],
 const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm* intercomm,
 int array_of_errcodes[]) {
  if (of_library(comm, root, intercomm)) {
    return parked(native.Comm_spawn_multiple, count, array_of_commands, array_of_argv,
                  array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes);
  }
  char*** const argvs = array_of_argv == MPI_ARGVS_NULL ? nullptr : array_of_argv;
  const auto given = [&] {
    return Commands{count, array_of_commands, argvs, array_of_maxprocs, array_of_info};
  };
  return spawn("MPI_Comm_spawn_multiple", given, root, comm, intercomm, array_of_errcodes);
}

}  // namespace isthmus::face
