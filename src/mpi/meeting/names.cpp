// MPI-4.1 sections 11.9.2 and 11.9.4: ports, and names of them. The launcher has them, as it
// outlives every process.
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "mpi/meeting/info.hpp"
#include "mpi/meeting/launcher.hpp"
#include "mpi/meeting/port.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Writes a port's name into the program's MPI_MAX_PORT_NAME bytes.
void give_port(const std::string& name, char* port_name) {
  require(name.size() < MPI_MAX_PORT_NAME, MPI_ERR_PORT, "the port's name is too long");
  std::memcpy(port_name, name.c_str(), name.size() + 1);
}

template <class Body>
int about_names(const char* function, Body&& body) {
  return shielded(MPI_COMM_NULL, function, [&] { body(); });
}

std::string given(const char* text, int error_class) {
  require(text != nullptr, error_class, "the name is a null pointer");
  return text;
}

}  // namespace

bool is_own_port(const std::string& name) { return name.starts_with(kPortPrefix); }

// coverage: the port is the grid's: whoever connects may be in any cluster
ISTHMUS_MPI(Open_port)(MPI_Info info, char* port_name) {
  if (native_call()) return native.Open_port(info, port_name);
  return about_names("MPI_Open_port", [&] {
    require(port_name != nullptr, MPI_ERR_ARG, "the name is a null pointer");
    give_port(text_of(ask_launcher({{"do", "open"}}), "port"), port_name);
  });
}

ISTHMUS_MPI(Close_port)(const char* port_name) {
  if (native_call() || (port_name != nullptr && !is_own_port(port_name))) {
    return native.Close_port(port_name);
  }
  return about_names("MPI_Close_port", [&] {
    ask_launcher({{"do", "close"}, {"port", given(port_name, MPI_ERR_PORT)}});
  });
}

// coverage: the whole run sees the name, and the user's other runs on the launcher's host
ISTHMUS_MPI(Publish_name)(const char* service_name, MPI_Info info, const char* port_name) {
  if (native_call()) return native.Publish_name(service_name, info, port_name);
  return about_names("MPI_Publish_name", [&] {
    ask_launcher({{"do", "publish"},
                  {"service", given(service_name, MPI_ERR_SERVICE)},
                  {"port", given(port_name, MPI_ERR_PORT)}});
  });
}

// coverage: any rank of the grid may take a name back
ISTHMUS_MPI(Unpublish_name)(const char* service_name, MPI_Info info, const char* port_name) {
  if (native_call()) return native.Unpublish_name(service_name, info, port_name);
  return about_names("MPI_Unpublish_name", [&] {
    ask_launcher({{"do", "unpublish"},
                  {"service", given(service_name, MPI_ERR_SERVICE)},
                  {"port", given(port_name, MPI_ERR_PORT)}});
  });
}

// coverage: waits until the name is published, with the info key timeout
ISTHMUS_MPI(Lookup_name)(const char* service_name, MPI_Info info, char* port_name) {
  if (native_call()) return native.Lookup_name(service_name, info, port_name);
  return about_names("MPI_Lookup_name", [&] {
    require(port_name != nullptr, MPI_ERR_ARG, "the port's name is a null pointer");
    nlohmann::json request{{"do", "lookup"}, {"service", given(service_name, MPI_ERR_NAME)}};
    if (const auto limit = timeout_of(info)) request["limit"] = *limit;
    give_port(text_of(ask_launcher(request), "port"), port_name);
  });
}

}  // namespace isthmus::face
